import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { transitionId } from '../../src/index.ts';
import { hmacOf } from '../../src/internal.ts';
import { operations } from '../operations.ts';
import { callbackData, HASH, SIGNING_KEY } from '../signed-callbacks.ts';
import { accepted, verdictOf, verify } from '../verify.ts';

// A signed field is an own data property and a well-formed string (decision D5). In addition to the vectors of the contract:
// objects, getters and prototypes. Storage against threat A10 belongs to the inbox.

const TEXT = JSON.stringify(callbackData());

test('the HMAC of the five fields is the one that openssl makes', () =>
  expect(hmacOf(SIGNING_KEY, 'transaction.completed:ORD-1001:INT-77:COLLECTION:COMPLETED')).toBe(HASH));

test('threat A7, threat A8: a value that only reads as the signed string is refused', () => {
  const converted = [new String('ORD-1001'), ['ORD-1001'], { toString: () => 'ORD-1001' }];
  for (const merchant_reference of [...converted, Object('ORD-1001'), Symbol('ORD-1001')])
    expect(verdictOf(verify(callbackData({ merchant_reference })))).toBe('signed_field_malformed');
});

test('threat A7: a getter is refused, and never runs', () => {
  let ran = 0;
  const body = callbackData();
  const get = () => `ORD-${1000 + ++ran}`;
  Object.defineProperty(body.payload, 'merchant_reference', { enumerable: true, get });
  expect(verdictOf(verify(body))).toBe('signed_field_malformed');
  expect(ran).toBe(0);
});

test('threat A7: an inherited field is refused', () => {
  const { event, payload } = callbackData();
  const inherited = Object.assign(Object.create({ event }), { payload });
  for (const body of [{ event, payload: Object.create(payload) }, inherited])
    expect(verdictOf(verify(body))).toBe('signed_field_malformed');
  expect(verdictOf(verify(Object.create({ event, payload })))).toBe('body_malformed');
});

test.each([16, 63, 64, 65, 200])(
  'references of every length verify under a key of %i characters, as another HMAC signs them',
  (length) => {
    const signingKey = 'Kq7'.repeat(length).slice(0, length);
    for (const count of [1, 1300, 1400, 4000, 5000])
      for (const merchant_reference of ['x'.repeat(count), '\u20ac'.repeat(count)]) {
        const message = `transaction.completed:${merchant_reference}:INT-77:COLLECTION:COMPLETED`;
        const signature = `t=1,s=${createHmac('sha256', signingKey).update(message).digest('hex')}`;
        const result = verify(callbackData({ merchant_reference }), signature, { signingKey });
        expect(verdictOf(result)).toBe('accepted');
      }
  },
);

test('threat A10: a callback with a NUL or half a surrogate pair in unsigned fields verifies, and raw has them', () => {
  const odd = { customer_name: 'A\0B', status_message: '\ud800' };
  expect(accepted(verify(JSON.stringify(callbackData(odd)))).raw).toMatchObject({ payload: odd });
});

test('a usual callback needs no buffer for its message and no descriptor, and its identity is encoded once', () => {
  expect(operations([[Buffer, ['concat']]], () => verify(TEXT))).toBe(0);
  expect(operations([[Object, ['getOwnPropertyDescriptor']]], () => verify(TEXT))).toBe(0);
  const { signed } = accepted(verify(TEXT));
  expect(operations([[TextEncoder.prototype, ['encode']]], () => transitionId(signed))).toBe(1);
});
