import { UnavailableError } from '@payment-service/core';
import {
  type CallbackOptions,
  createCallbackReceiver,
  createRedirectReceiver,
  type IncomingCallback,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';
import { sampleCallback, signCallback } from '@payment-service/core/testing';

/** An answer as the table of the README writes it: `401 {"error":"unauthorized"}`, or a status alone. */
export type Answer = string;

const signingKey = 'RULES-SIGNING-KEY';
const data = sampleCallback();
const signature = signCallback({ signingKey, data });
const query = new URLSearchParams({
  event: data.event,
  merchant_reference: data.payload.merchant_reference,
  internal_reference: data.payload.internal_reference,
  transaction_type: data.payload.transaction_type,
  transaction_status: data.payload.transaction_status,
  hmac_signature: signature,
});

/** Every answer that core gives, each brought about by a request. */
export async function coreAnswers(): Promise<ReadonlySet<Answer>> {
  const fail = (): never => {
    throw new Error('a handler that fails, on purpose');
  };
  const callbacks = await Promise.all([
    callbackAnswer({}),
    callbackAnswer({ headers: [['hmac-signature', signature.replace(/.$/, 'x')]] }),
    callbackAnswer({ method: 'GET' }),
    callbackAnswer({ headers: [['content-type', 'text/plain']] }),
    callbackAnswer({ body: unread(new Uint8Array(64 * 1024 + 1)) }),
    callbackAnswer({ body: { state: 'unread', stream: stalled() } }, { bodyTimeoutMs: 1 }),
    callbackAnswer({ body: { state: 'unread', stream: broken() } }),
    callbackAnswer({ body: { state: 'consumed' } }),
    callbackAnswer({}, { onCallback: fail }),
    callbackAnswer({}, { onCallback: () => Promise.reject(new UnavailableError('away, on purpose')) }),
  ]);
  const redirects = await Promise.all([
    redirectAnswer('GET', `/return?${query}`),
    redirectAnswer('GET', '/return'),
    redirectAnswer('POST', `/return?${query}`),
    redirectAnswer('GET', `/return?${query}`, fail),
  ]);
  return new Set([...callbacks, ...redirects]);
}

async function callbackAnswer(
  request: Partial<IncomingCallback>,
  options: Partial<CallbackOptions> = {},
): Promise<Answer> {
  const receiver = createCallbackReceiver({ signingKey, onError: () => undefined, ...options });
  const incoming: IncomingCallback = {
    method: 'POST',
    headers: [['hmac-signature', signature]],
    body: unread(new TextEncoder().encode(JSON.stringify(data))),
    ...request,
  };
  return answerOf(await receiveCallback(incoming, receiver));
}

async function redirectAnswer(
  method: string,
  url: string,
  onRedirect = (): string => '/thanks',
): Promise<Answer> {
  const receiver = createRedirectReceiver({ signingKey, onRedirect, onError: () => undefined });
  return answerOf(await receiveRedirect({ method, url }, receiver));
}

function answerOf({ status, body }: { status: number; body: string }): Answer {
  return `${status} ${body}`.trim();
}

function unread(bytes: Uint8Array): IncomingCallback['body'] {
  return { state: 'unread', stream: new Blob([bytes.slice()]).stream() };
}

function stalled(): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) };
}

function broken(): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('the sender is gone')) }) };
}
