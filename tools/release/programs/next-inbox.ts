import { createInbox, sqlite } from '@payment-service/inbox';
import type { Settings } from './merchant.js';
import { web } from './web.js';

/** The merchant of a route of Next.js, with an inbox that is created on the first request. */
export function webWithInbox(settings: Settings): (request: Request) => Promise<Response> {
  return web(settings, createInbox({ store: sqlite('shop.db') }).route.onCallback);
}
