import * as adapter from '@payment-service/express';
import { createInbox, sqlite } from '@payment-service/inbox';
import express from 'express';
import { merchant } from './merchant.js';

const { options, report } = merchant(adapter, process.env);
const inbox = createInbox({ store: sqlite('shop.db') });
const app = express();
app.use(
  '/callbacks',
  adapter.paymentCallbacks({
    ...options,
    onCallback: async (callback) => {
      await inbox.receive(callback);
      options.onCallback(callback);
    },
  }),
);
app.get('/report', (_request, response, next) => {
  report().then((body) => response.json(body), next);
});
const server = app.listen(Number(process.env['PORT']), '127.0.0.1');
process.once('SIGTERM', () => {
  server.close(() => inbox.close());
});
