import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { expect, test } from 'vitest';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

const signingKey = 'FetchTestSigningKey1';
const data = sampleCallback();
const bytes = new TextEncoder().encode(JSON.stringify(data));
const signed = { 'hmac-signature': signCallback({ signingKey, data }) };
const onCallback = (): void => undefined;

function callbackRequest(
  body: ReadableStream<Uint8Array>,
  headers: Record<string, string> = signed,
): Request {
  return new Request('https://shop.example/callbacks', { method: 'POST', headers, body, duplex: 'half' });
}

/** A body of the given chunks, which reports how often more was requested, and whether it was released. */
function recordedBody(chunks: readonly Uint8Array[]): {
  stream: ReadableStream<Uint8Array>;
  pulls: () => number;
  cancelled: Promise<void>;
} {
  let pulls = 0;
  let cancel: () => void = () => undefined;
  const cancelled = new Promise<void>((resolve) => {
    cancel = resolve;
  });
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[pulls++];
        if (chunk !== undefined) controller.enqueue(chunk);
        else if (chunks.length > 0) controller.close();
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
  return { stream, pulls: () => pulls, cancelled };
}

test('the body of a request is not touched when the request is refused before', async () => {
  const { stream, pulls } = recordedBody([bytes]);
  const request = callbackRequest(stream, {});
  expect((await paymentCallbacks({ signingKey, onCallback })(request)).status).toBe(401);
  expect([request.bodyUsed, pulls()]).toEqual([false, 0]);
});

test.each([undefined, '1', '100', String(bytes.length), '65536'])(
  'threat A18, threat A44: a body is cancelled over the limit, and no more of it is read, with a content-length of %s',
  async (length) => {
    const chunk = new Uint8Array(40_000);
    const { stream, pulls, cancelled } = recordedBody([chunk, chunk, chunk, chunk]);
    const headers = { ...signed, ...(length === undefined ? {} : { 'content-length': length }) };
    const response = await paymentCallbacks({ signingKey, onCallback })(callbackRequest(stream, headers));
    expect(response.status).toBe(413);
    await cancelled;
    expect(pulls()).toBe(2);
  },
);

test('threat A18: a body is cancelled when it stalls', async () => {
  const { stream, cancelled } = recordedBody([]);
  const callbacks = paymentCallbacks({ signingKey, onCallback, bodyTimeoutMs: 20 });
  expect((await callbacks(callbackRequest(stream))).status).toBe(408);
  await cancelled;
});

test('the body of a request is refused when it is missing', async () => {
  const request = new Request('https://shop.example/callbacks', { method: 'POST', headers: signed });
  expect((await paymentCallbacks({ signingKey, onCallback })(request)).status).toBe(401);
});

test('the body of a request is answered without an exception when other code has locked it', async () => {
  const { stream } = recordedBody([bytes]);
  const request = callbackRequest(stream);
  request.body?.getReader();
  expect((await paymentCallbacks({ signingKey, onCallback })(request)).status).toBe(400);
});

const flat = Object.entries({ event: data.event, ...data.payload, ...signed });
const query = new URLSearchParams();
for (const [name, value] of flat) query.set(name.replace('-', '_'), String(value));
const request = new Request(`https://shop.example/return?${query}`);
const redirects = paymentRedirects({ signingKey });

test('redirects that are passed through accept a response whose headers cannot be changed', async () => {
  const response = await redirects(request, () => Response.redirect('https://shop.example/thanks', 303));
  expect([response.status, ...response.headers].flat()).toEqual([
    303,
    ...['cache-control', 'no-store'],
    ...['location', 'https://shop.example/thanks'],
    ...['referrer-policy', 'no-referrer'],
  ]);
});

test('redirects that are passed through keep the cookies, the body and the caching headers of the response', async () => {
  const headers = new Headers({ 'cache-control': 'private' });
  headers.append('set-cookie', 'a=1');
  headers.append('set-cookie', 'b=2');
  const response = await redirects(request, async () => new Response('thanks', { status: 201, headers }));
  expect([response.status, await response.text()]).toEqual([201, 'thanks']);
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(response.headers.get('cache-control')).toBe('private');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
});
