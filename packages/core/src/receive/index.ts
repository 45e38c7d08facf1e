export type { DeliveryTrace } from './delivery-trace.ts';
export { incomingCallback, type NodeRequest } from './node.ts';
export { type ReceivedCallback, receiveCallback } from './receive-callback.ts';
export { type IncomingRedirect, type ReceivedRedirect, receiveRedirect } from './receive-redirect.ts';
export type {
  CallbackMethod,
  CallbackOptions,
  CallbackReceiver,
  RedirectOptions,
  RedirectReceiver,
  RefusedRequest,
  Reply,
} from './receiver.ts';
export { createCallbackReceiver, createRedirectReceiver } from './receiver.ts';
export type { BodySource, IncomingBody, IncomingCallback } from './request-body.ts';
export { type HonoContext, incomingWebCallback } from './web.ts';
