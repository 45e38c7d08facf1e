import { createInbox, sqlite } from '@payment-service/inbox';
import { expressApp } from './express-app.js';

const inbox = createInbox({ store: sqlite('shop.db') });
const server = expressApp(inbox.receive).listen(Number(process.env['PORT']), '127.0.0.1');
process.once('SIGTERM', () => {
  server.close(() => inbox.close());
});
