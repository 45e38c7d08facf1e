import * as adapter from '@payment-service/express';
import express, { type Express } from 'express';
import { merchant } from './merchant.js';

/** A merchant on Express, who calls `keep` first with each callback. */
export function expressApp(keep?: (callback: adapter.VerifiedCallback) => Promise<unknown>): Express {
  const { options, report } = merchant(adapter, process.env);
  const onCallback = async (callback: adapter.VerifiedCallback): Promise<void> => {
    await keep?.(callback);
    options.onCallback(callback);
  };
  const app = express();
  app.use('/callbacks', adapter.paymentCallbacks({ ...options, onCallback }));
  app.get('/report', (_request, response, next) => {
    report().then((body) => response.json(body), next);
  });
  return app;
}
