import * as adapter from '@payment-service/fetch';
import { type Keep, merchant, type Settings } from './merchant.js';

/** The same merchant on every runtime of `Request → Response`. */
export function web(settings: Settings, keep?: Keep): (request: Request) => Promise<Response> {
  const { options, report } = merchant(adapter, settings, keep);
  const callbacks = adapter.paymentCallbacks(options);
  return async (request) =>
    new URL(request.url).pathname === '/report' ? Response.json(await report()) : callbacks(request);
}
