import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  receiveCallback,
  receiveRedirect,
} from '../../src/receive/index.ts';
import { anything, hostile } from '../anything.ts';
import { parsed, post } from '../incoming.ts';
import { callbackData, SIGNATURE, SIGNING_KEY } from '../signed-callbacks.ts';
import { verdictOf, verifier, verify } from '../verify.ts';

// Arbitrary input before authentication: its cost, and what the response reveals.

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

test('threat A18: values that throw when they are read get a result too', () => {
  for (const value of hostile) {
    expect(verifier.verifyRedirect(value as string).ok).toBe(false);
    expect(verify(value).ok).toBe(false);
    expect(verify(callbackData(), value).ok).toBe(false);
    expect(verify(callbackData({ merchant_reference: value })).ok).toBe(false);
    expect(verify({ event: 'transaction.completed', payload: value }).ok).toBe(false);
    // In an unsigned field the value is unknown, which is not an error.
    expect(verify(callbackData({ customer_name: value, id: value, channel: value })).ok).toBe(true);
  }
});

test('threat A18: 60 KB of brackets get a result, wherever they are', () => {
  const deep = '['.repeat(30_000) + ']'.repeat(30_000);
  const inside = JSON.stringify(callbackData()).slice(0, -2);
  const open = ['['.repeat(60_000), '{"a":'.repeat(12_000)];
  for (const text of [deep, ...open, `{"event":${deep}}`, `${inside},"x":${deep}}}`])
    expect(['body_malformed', 'accepted']).toContain(verdictOf(verify(text)));
  const result = verify(JSON.parse(`${inside},"x":${deep}}}`));
  expect(result.ok).toBe(true);
  expect(inspect(result)).toContain('ORD-1001');
  expect(JSON.stringify(result)).toContain('ORD-1001');
});

test('threat A22: all refused callbacks get the same answer, and so do all refused redirects', async () => {
  const callbacks = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });
  const redirects = createRedirectReceiver({ signingKey: SIGNING_KEY, onRedirect: () => '/thanks' });
  await fc.assert(
    fc.asyncProperty(anything, fc.string({ unit: 'binary' }), async (data, text) => {
      const signature = fc.stringify(text).length % 2 === 0 ? SIGNATURE : text;
      const { reply } = await receiveCallback(post(parsed(data), { 'hmac-signature': signature }), callbacks);
      const unauthorized = (headers = {}) => ({
        status: 401,
        headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
        body: '{"error":"unauthorized"}',
      });
      expect(reply).toEqual(unauthorized());
      const url = `/return?${text.replaceAll('#', '')}`;
      const redirected = await receiveRedirect({ method: 'GET', url }, redirects);
      const isPrivate = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
      expect(redirected.reply).toEqual(unauthorized(isPrivate));
    }),
  );
});
