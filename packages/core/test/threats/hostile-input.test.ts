import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  receiveCallback,
  receiveRedirect,
} from '../../src/receive/index.ts';
import { anything, hostile } from '../anything.ts';
import { verifier } from '../ordinary-verifier.ts';
import { callbackData, QUERY, SIGNATURE, SIGNING_KEY } from '../signed-callbacks.ts';
import { codeOf, verify } from './verify.ts';

// Anything at all, sent before anybody is authenticated: what it costs, and what the answer tells.

describe('threat A18: cost before authentication, and totality', () => {
  test('threat A18: verifyCallback answers any input with a result, and accepts none of it', () => {
    fc.assert(
      fc.property(anything, anything, (signature, body) => {
        expect(verify(body, signature).ok).toBe(false);
        expect(verify(body).ok).toBe(false);
        expect(verify({ event: 'transaction.completed', payload: body }).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test('threat A18: verifyRedirect answers any input with a result, and accepts none of it', () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.webQueryParameters()), (query: unknown) => {
        expect(verifier.verifyRedirect(query as string).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test('threat A18: nor does a value that is made to throw get anything but a result', () => {
    for (const value of hostile) {
      expect(verifier.verifyRedirect(value as string).ok).toBe(false);
      expect(verify(value).ok).toBe(false);
      expect(verify(callbackData(), value).ok).toBe(false);
      expect(verify(callbackData({ merchant_reference: value })).ok).toBe(false);
      expect(verify({ event: 'transaction.completed', payload: value }).ok).toBe(false);
      // In an unsigned field it is unknown, and unknown is not wrong.
      expect(verify(callbackData({ customer_name: value, id: value, channel: value })).ok).toBe(true);
    }
  });

  test('threat A18: 60 KB of brackets, in every place, is an answer and not a crash', () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    const inside = JSON.stringify(callbackData()).slice(0, -2);
    for (const text of [
      deep,
      '['.repeat(60_000),
      '{"a":'.repeat(12_000),
      `{"event":${deep}}`,
      `${inside},"x":${deep}}}`,
    ]) {
      expect(['body_malformed', 'accepted']).toContain(codeOf(verify(text)));
    }
    const parsed = verify(JSON.parse(`${inside},"x":${deep}}}`));
    expect(parsed.ok).toBe(true);
    expect(inspect(parsed)).toContain('ORD-1001');
    expect(JSON.stringify(parsed)).toContain('ORD-1001');
  });

  test('threat A18: a query is read up to 8,192 characters', () => {
    expect(codeOf(verifier.verifyRedirect(`${QUERY}&x=`.padEnd(8192, 'y')))).toBe('accepted');
    expect(codeOf(verifier.verifyRedirect(`${QUERY}&x=`.padEnd(8193, 'y')))).toBe('query_malformed');
  });

  test('threat A18: a bad method, type or header is answered without touching the body', async () => {
    const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });
    let reads = 0;
    const stream = {
      [Symbol.asyncIterator]: () => {
        reads++;
        return { next: () => Promise.resolve({ done: true as const, value: undefined }) };
      },
    };
    const send = async (method: string, headers: [string, string][]) =>
      (await receiveCallback({ method, headers, body: { state: 'unread', stream } }, receiver)).status;
    expect(await send('GET', [['hmac-signature', SIGNATURE]])).toBe(405);
    expect(
      await send('POST', [
        ['hmac-signature', SIGNATURE],
        ['content-type', 'text/plain'],
      ]),
    ).toBe(415);
    expect(
      await send('POST', [
        ['hmac-signature', SIGNATURE],
        ['content-encoding', 'br'],
      ]),
    ).toBe(415);
    expect(await send('POST', [])).toBe(401);
    expect(await send('POST', [['hmac-signature', `${SIGNATURE} `]])).toBe(401);
    expect(
      await send('POST', [
        ['hmac-signature', SIGNATURE],
        ['content-length', '65537'],
      ]),
    ).toBe(413);
    expect(reads).toBe(0);
    expect(await send('POST', [['hmac-signature', SIGNATURE]])).toBe(401);
    expect(reads).toBe(1);
  });
});

describe('threat A22: an oracle in the answer', () => {
  test('threat A22: every refused callback gets the same bytes, every refused redirect too', async () => {
    const callbacks = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });
    const redirects = createRedirectReceiver({ signingKey: SIGNING_KEY, onRedirect: () => '/thanks' });
    await fc.assert(
      fc.asyncProperty(anything, fc.string({ unit: 'binary' }), async (data, text) => {
        const headers: [string, string][] = [
          ['hmac-signature', fc.stringify(text).length % 2 === 0 ? SIGNATURE : text],
        ];
        const answer = await receiveCallback(
          { method: 'POST', headers, body: { state: 'parsed', data } },
          callbacks,
        );
        expect(answer).toEqual({
          status: 401,
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: '{"error":"unauthorized"}',
        });
        const query = text.replaceAll('#', '');
        expect(await receiveRedirect({ method: 'GET', url: `/return?${query}` }, redirects)).toEqual({
          status: 401,
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'cache-control': 'no-store',
            'referrer-policy': 'no-referrer',
          },
          body: '{"error":"unauthorized"}',
        });
      }),
    );
  });
});
