import * as adapter from '@payment-service/express';
import express from 'express';
import { merchant } from './merchant.js';

/** For a test runner: serves until the report has been read. */
export function serveOnce(): Promise<void> {
  const { options, report } = merchant(adapter, process.env);
  return new Promise((resolve) => {
    const app = express();
    app.use('/callbacks', adapter.paymentCallbacks(options));
    app.get('/report', (_request, response, next) => {
      response.set('connection', 'close').once('finish', () => server.close(() => resolve()));
      report().then((body) => response.json(body), next);
    });
    const server = app.listen(Number(process.env['PORT']), '127.0.0.1');
  });
}
