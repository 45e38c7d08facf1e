import { createInbox, sqlite } from '@payment-service/inbox';
import { expressApp } from './express-app.js';

const inbox = createInbox({ store: sqlite('shop.db') });
const server = expressApp(inbox.route.onCallback).listen(Number(process.env['PORT']), '127.0.0.1');
process.once('SIGTERM', () => {
  server.close(() => inbox.close());
});
