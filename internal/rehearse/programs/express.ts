import * as adapter from '@payment-service/express';
import express from 'express';
import { merchant } from './merchant.js';

const { options, report } = merchant(adapter, process.env);
const app = express();
app.use('/callbacks', adapter.paymentCallbacks(options));
app.get('/report', (_request, response, next) => {
  report().then((body) => response.json(body), next);
});
const server = app.listen(Number(process.env['PORT']), '127.0.0.1');
process.once('SIGTERM', () => server.close());
