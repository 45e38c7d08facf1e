/** W3C Trace Context, 3.2: version 00, which is the only one, with ids that are not zero. */
const TRACEPARENT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

const kept = /* @__PURE__ */ new WeakMap<object, string>();

/**
 * Keeps the `traceparent` of a delivery with a valid signature, so that later work can be linked with its request. Values that
 * are not in W3C's form are dropped. It is not proved (threat A58), so it is only a link, never a parent.
 */
export function keepTraceparent(verified: object, traceparent: unknown): void {
  if (typeof traceparent === 'string' && TRACEPARENT.test(traceparent)) kept.set(verified, traceparent);
}

/**
 * The `traceparent` of the request that a verified callback, or an authentic refusal, arrived in.
 *
 * @example
 * traceparentOf(callback); // '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
 */
export function traceparentOf(verified: object): string | undefined {
  return kept.get(verified);
}
