import { UnavailableError } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { type CallbackOptions, paymentCallbacks, paymentRedirects } from '@payment-service/fetch';

/** An answer in the form of the README's table: `401 {"error":"unauthorized"}`, or only a status. */
export type Answer = string;

const signingKey = 'RULES4SIGNING4KEY';
const data = sampleCallback();
const signature = signCallback({ signingKey, data });
const forged = signature.replace(/.$/, 'x');
const address = 'http://127.0.0.1/payments';
const query = new URLSearchParams({
  event: data.event,
  merchant_reference: data.payload.merchant_reference,
  internal_reference: data.payload.internal_reference,
  transaction_type: data.payload.transaction_type,
  transaction_status: data.payload.transaction_status,
  hmac_signature: signature,
});

/** Every answer of core, each provoked by a request through the fetch adapter, which adds nothing. */
export async function coreAnswers(): Promise<ReadonlySet<Answer>> {
  const fail = (): never => {
    throw new Error('a handler that fails, on purpose');
  };
  const consumed = request({});
  await consumed.text();
  return new Set(
    await Promise.all([
      callbackAnswer(request({})),
      callbackAnswer(request({ headers: { 'hmac-signature': forged } })),
      callbackAnswer(request({ method: 'PUT' })),
      callbackAnswer(request({ headers: { 'content-encoding': 'br' } })),
      callbackAnswer(request({ body: new Uint8Array(64 * 1024 + 1) })),
      callbackAnswer(request({ body: stalled() }), { bodyTimeoutMs: 1 }),
      callbackAnswer(request({ body: broken() })),
      callbackAnswer(consumed),
      callbackAnswer(request({}), { onCallback: fail }),
      callbackAnswer(request({}), { onCallback: () => new Promise(() => undefined), handlerTimeoutMs: 1 }),
      callbackAnswer(request({}), {
        onCallback: () => Promise.reject(new UnavailableError('The database is unavailable, on purpose.')),
      }),
      redirectAnswer(new Request(`${address}?${query}`)),
      redirectAnswer(new Request(address)),
      redirectAnswer(new Request(`${address}?${query}`, { method: 'POST' })),
      redirectAnswer(new Request(`${address}?${query}`), fail),
    ]),
  );
}

function callbackAnswer(
  callback: Request,
  options: Partial<CallbackOptions> & { readonly handlerTimeoutMs?: number } = {},
): Promise<Answer> {
  const { onCallback = () => undefined, ...others } = options;
  return answerOf(
    paymentCallbacks({ signingKey, onCallback, onError: () => undefined, ...others })(callback),
  );
}

function redirectAnswer(redirect: Request, onRedirect = (): string => '/thanks'): Promise<Answer> {
  return answerOf(paymentRedirects({ signingKey, onRedirect, onError: () => undefined })(redirect));
}

/** A missing answer is reported as such, so that the rule ends. */
async function answerOf(response: Promise<Response>): Promise<Answer> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, 5000, undefined).unref());
  const answer = await Promise.race([response, late]);
  return answer === undefined ? 'no answer' : `${answer.status} ${await answer.text()}`.trim();
}

function request({
  headers = {},
  ...init
}: RequestInit & { headers?: Readonly<Record<string, string>> }): Request {
  return new Request(address, {
    method: 'POST',
    body: JSON.stringify(data),
    duplex: 'half',
    headers: { 'content-type': 'application/json', 'hmac-signature': signature, ...headers },
    ...init,
  });
}

function stalled(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: () => new Promise(() => undefined) });
}

function broken(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.error(new Error('the sender is gone')) });
}
