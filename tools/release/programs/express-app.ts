import * as adapter from '@payment-service/express';
import express, { type Express } from 'express';
import { type Keep, merchant } from './merchant.js';

/** A merchant on Express. */
export function expressApp(keep?: Keep): Express {
  const { options, report } = merchant(adapter, process.env, keep);
  const app = express();
  app.use('/callbacks', adapter.paymentCallbacks(options));
  app.get('/report', (_request, response, next) => {
    report().then((body) => response.json(body), next);
  });
  return app;
}
