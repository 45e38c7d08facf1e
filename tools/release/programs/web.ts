import * as adapter from '@payment-service/fetch';
import { merchant, type Settings } from './merchant.js';

/** The same merchant on every runtime of `Request → Response`, who calls `keep` first with each callback. */
export function web(
  settings: Settings,
  keep?: (callback: adapter.VerifiedCallback) => Promise<unknown>,
): (request: Request) => Promise<Response> {
  const { options, report } = merchant(adapter, settings);
  const onCallback = async (callback: adapter.VerifiedCallback): Promise<void> => {
    await keep?.(callback);
    options.onCallback(callback);
  };
  const callbacks = adapter.paymentCallbacks({ ...options, onCallback });
  return async (request) =>
    new URL(request.url).pathname === '/report' ? Response.json(await report()) : callbacks(request);
}
