import * as adapter from '@payment-service/fetch';
import { merchant, type Settings } from './merchant.js';

/** The same merchant on every runtime of `Request → Response`. */
export function web(settings: Settings): (request: Request) => Promise<Response> {
  const { options, report } = merchant(adapter, settings);
  const callbacks = adapter.paymentCallbacks(options);
  return async (request) =>
    new URL(request.url).pathname === '/report' ? Response.json(await report()) : callbacks(request);
}
