import { ConfigurationError } from '../errors.ts';
import { checkArgument, type OptionRule } from '../options/options.ts';
import { keepTraceparent } from '../reporting/trace-channel.ts';
import { MAX_BODY_BYTES } from '../verify/callback-body.ts';
import type { RefusalCode, RequestCode } from '../verify/refusal.ts';
import { readSignature } from '../verify/signature.ts';
import { warnOnce } from '../verify/signing-keys.ts';
import type { VerifiedCallback } from '../verify/verified.ts';
import { CALLBACKS, type Delivered, type DeliveryTrace, traceDelivery } from './delivery-trace.ts';
import {
  type CallbackReceiver,
  failureReply,
  isRequestCode,
  jsonReply,
  type Reply,
  refuseRequest,
  settled,
} from './receiver.ts';
import {
  encodingOf,
  headerOf,
  type IncomingCallback,
  inflate,
  isEncoded,
  isParsedTooLarge,
  readBodyBytes,
} from './request-body.ts';

/** Core's answer, or, without `onCallback`, a verified callback for the adapter to pass through. */
export type ReceivedCallback =
  | { readonly reply: Reply; readonly callback?: never }
  | { readonly reply: undefined; readonly callback: VerifiedCallback };

const CLOSE = { connection: 'close' };
// Headers and body are made once.
const ACCEPTED: Reply = /* @__PURE__ */ jsonReply(200, { status: 'accepted' });
const UNAUTHORIZED: Reply = /* @__PURE__ */ jsonReply(401, { error: 'unauthorized' });
/** All refusals of the verifier look the same over the network: 401 (threat A22). */
const REPLIES: { readonly [Code in RequestCode]: readonly [number, string, Reply['headers']?] } = {
  method_not_allowed: [405, 'method_not_allowed'],
  encoding_unsupported: [415, 'unsupported_media_type'],
  body_too_large: [413, 'content_too_large', CLOSE],
  body_timeout: [408, 'request_timeout', CLOSE],
  body_aborted: [400, 'request_aborted', CLOSE],
};

/**
 * Receives a callback. This is the only place that decides the status and the body of the answer. The cheapest checks run first,
 * so that an unauthenticated sender costs little (threat A18): method, content encoding, signature grammar, length, body,
 * verification.
 *
 * 200: accepted. 401: refused, with the same body for every reason. 400, 405, 408, 413 and 415: not a readable callback.
 * `failureStatus` with `Retry-After`: the handler failed. Every refusal reaches `onRefused`. Never rejects.
 *
 * @throws {ConfigurationError} When `request` or `receiver` was not made by the functions of this entry.
 *
 * @example
 * const { reply } = await receiveCallback(request, createCallbackReceiver({ signingKey, onCallback }));
 */
export function receiveCallback(
  request: IncomingCallback,
  receiver: CallbackReceiver,
): Promise<ReceivedCallback> {
  checkArgument('receiveCallback()', 'request', request, REQUEST);
  checkArgument('receiveCallback()', 'receiver', receiver, RECEIVER);
  return answerCallback(request, receiver);
}

const REQUEST: OptionRule = [
  (request) => typeof Object(request).header === 'function' && typeof Object(request).body.state === 'string',
  'the result of incomingCallback() or incomingWebCallback()',
];
const RECEIVER: OptionRule = [
  (receiver) => Array.isArray(Object(receiver).methods),
  'the result of createCallbackReceiver()',
];

/** The same for an adapter, which creates both arguments itself. */
export function answerCallback(
  request: IncomingCallback,
  receiver: CallbackReceiver,
): Promise<ReceivedCallback> {
  return traceDelivery(CALLBACKS, (started) => receive(request, receiver, started));
}

async function receive(
  request: IncomingCallback,
  receiver: CallbackReceiver,
  started: Readonly<DeliveryTrace> | undefined,
): Promise<Delivered<ReceivedCallback>> {
  const { methods, verifier, onCallback, onAuthenticRefusal } = receiver;
  const signature = readSignature(headerOf(request, 'hmac-signature'));
  const encoding = encodingOf(headerOf(request, 'content-encoding'));
  const declared = headerOf(request, 'content-length');
  const declaredLength = declared === undefined ? undefined : Number(declared);
  if (!methods.includes(request.method)) {
    if (request.url !== undefined && ROOT.test(request.url)) warnOnce(MOUNTED_AT_ROOT);
    return unread('method_not_allowed', request, receiver, { allow: methods.join(', ') });
  }
  if (encoding === undefined) return unread('encoding_unsupported', request, receiver);
  if (typeof signature === 'string') return unread(signature, request, receiver);
  if (isTooLong(declaredLength)) return unread('body_too_large', request, receiver);

  let body: unknown;
  if (request.body.state === 'unread') {
    const received = await readBodyBytes(request.body.read, declaredLength, receiver.bodyLimit);
    const isPlain = encoding === 'identity' || typeof received === 'string' || !isEncoded(received, encoding);
    const read = isPlain ? received : await inflate(received, encoding, MAX_BODY_BYTES);
    if (typeof read === 'string') return refused(read, request, receiver);
    body = read;
  } else if (request.body.state === 'parsed') {
    body = request.body.data;
    const isBounded = encoding === 'identity' && declaredLength !== undefined;
    if (!isBounded && isParsedTooLarge(body)) return refused('body_too_large', request, receiver);
  } else {
    const error = new ConfigurationError('body', BODY_CONSUMED);
    const reply = failureReply(error, receiver, {}, 'body_consumed');
    return { received: answer(request, reply), outcome: 'failed' };
  }

  const result = verifier.verifySigned(signature, body);
  if (!result.ok) {
    receiver.reportRefusal(result, request, body);
    if (!result.authentic || onAuthenticRefusal === undefined)
      return { received: answer(request, UNAUTHORIZED), outcome: 'refused', refusal: result.code };
  }
  const traceparent = started && keepTraceparent(result, headerOf(request, 'traceparent'), started.span);
  const facts = result.ok
    ? { given: result, traceparent }
    : { given: result.evidence, traceparent, refusal: result.code };
  if (result.ok && onCallback === undefined)
    return { received: { reply: undefined, callback: result }, outcome: 'passed', ...facts };
  try {
    const running = settled(result.ok ? onCallback?.(result) : onAuthenticRefusal?.(result), receiver);
    if (running instanceof Promise) await running;
    acknowledged.add(facts.given);
    return { received: answer(request, ACCEPTED), outcome: 'accepted', ...facts };
  } catch (error) {
    return { received: answer(request, failureReply(error, receiver)), outcome: 'failed', ...facts };
  }
}

const acknowledged = /* @__PURE__ */ new WeakSet<object>();

/**
 * Whether a route has already answered 200 for this callback or evidence. If it still has to be kept then, its promise was dropped
 * (threat A82).
 */
export const isAcknowledged = (verified: object): boolean => acknowledged.has(verified);

/** While the server closes, every answer ends its connection, since `close()` would wait for it. */
function answer(request: IncomingCallback, reply: Reply): ReceivedCallback {
  // Own property only: a polluted prototype must not decide (threat A42).
  if (!Object.hasOwn(request, 'isClosing') || request.isClosing?.() !== true) return { reply };
  return { reply: { ...reply, headers: { ...reply.headers, ...CLOSE } } };
}

function refused(
  code: RefusalCode,
  request: IncomingCallback,
  receiver: CallbackReceiver,
  headers?: Reply['headers'],
): Delivered<ReceivedCallback> {
  receiver.reportRefusal(refuseRequest(code), request);
  const [status, error, own] = isRequestCode(code) ? REPLIES[code] : [401, 'unauthorized'];
  const reply = jsonReply(status, { error }, { ...own, ...headers });
  return { received: answer(request, reply), outcome: 'refused', refusal: code };
}

/** Refuses before the body is read. To keep the connection, the server would have to read and discard the rest of a long body. */
function unread(
  ...[code, request, receiver, headers]: Parameters<typeof refused>
): ReturnType<typeof refused> {
  const declared = headerOf(request, 'content-length');
  const mayBeLong =
    declared === undefined ? headerOf(request, 'transfer-encoding') : isTooLong(Number(declared));
  const isOpen = request.body.state !== 'unread' || !mayBeLong;
  return refused(code, request, receiver, isOpen ? headers : { ...headers, ...CLOSE });
}

/** Not `>`: a length that is not a number is not within the limit either. */
function isTooLong(declaredLength: number | undefined): boolean {
  return declaredLength !== undefined && !(declaredLength <= MAX_BODY_BYTES);
}

const BODY_CONSUMED =
  'The callback cannot be verified: other middleware, or a second paymentCallbacks(), has already read the request body ' +
  'without parsing it. Mount paymentCallbacks() once, before other middleware, or use a JSON body parser.';

/** Matches a path or an address. */
const ROOT = /^(?:\w+:\/\/[^/]*)?\/?(?:\?|$)/;
const MOUNTED_AT_ROOT =
  'paymentCallbacks() answered the path / with 405. Mounted at the root, it answers every page of the server: mount it on a ' +
  'separate path, such as /payments/callbacks.';
