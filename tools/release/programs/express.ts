import { expressApp } from './express-app.js';

const server = expressApp().listen(Number(process.env['PORT']), '127.0.0.1');
process.once('SIGTERM', () => server.close());
