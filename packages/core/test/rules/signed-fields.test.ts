import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { callbackData, signatureFor } from '../signed-callbacks.ts';
import { verdictOf, verify } from './verify.ts';

// Decision D5, beside the vectors of the contract: objects, getters and prototypes.

describe('decision D5: a signed field is an own data property and a well-formed string', () => {
  test.each([
    ['undefined', undefined, 'undefined'],
    ['a number', 1001, '1001'],
    ['an array of one string', ['ORD-1001'], 'ORD-1001'],
    ['a String object', new String('ORD-1001'), 'ORD-1001'],
    ['an object with toString', { toString: () => 'ORD-1001' }, 'ORD-1001'],
    ['a lone high surrogate', '\ud800', '\ufffd'],
    ['a lone low surrogate', '\udfff', '\ufffd'],
  ] as const)('%s is refused as a signed field', (_, value, signedAs) => {
    const body = callbackData({ merchant_reference: value });
    expect(verdictOf(verify(body, signatureFor(signedAs)))).toBe('signed_field_malformed');
  });

  test('a getter is refused, and never runs', () => {
    let ran = 0;
    const body = callbackData();
    Object.defineProperty(body.payload, 'merchant_reference', {
      enumerable: true,
      get: () => `ORD-${1000 + ++ran}`,
    });
    expect(verdictOf(verify(body))).toBe('signed_field_malformed');
    expect(ran).toBe(0);
  });

  test('an inherited field is refused', () => {
    const { event, payload } = callbackData();
    expect(verdictOf(verify({ event, payload: Object.create(payload) }))).toBe('signed_field_malformed');
    expect(verdictOf(verify(Object.create({ event, payload })))).toBe('body_malformed');
    expect(verdictOf(verify(Object.assign(Object.create({ event }), { payload })))).toBe(
      'signed_field_malformed',
    );
  });

  test.each([16, 63, 64, 65, 200])(
    'references of every length verify under a key of %i characters, as another HMAC signs them',
    (length) => {
      const signingKey = 'K'.repeat(length);
      for (const reference of [1, 1300, 1400, 4000, 5000].flatMap((n) => [
        'x'.repeat(n),
        '\u20ac'.repeat(n),
      ])) {
        const message = `transaction.completed:${reference}:INT-77:COLLECTION:COMPLETED`;
        const signature = `t=1,s=${createHmac('sha256', signingKey).update(message).digest('hex')}`;
        const body = callbackData({ merchant_reference: reference });
        expect(verdictOf(verify(body, signature, { signingKey }))).toBe('accepted');
      }
    },
  );

  test('an empty string is accepted, and nothing is normalised', () => {
    expect(verdictOf(verify(callbackData({ merchant_reference: '' }), signatureFor('')))).toBe('accepted');
    for (const [signed, sent] of [
      ['Caf\u00e9', 'Cafe\u0301'],
      ['Cafe\u0301', 'Caf\u00e9'],
    ] as const) {
      expect(verdictOf(verify(callbackData({ merchant_reference: signed }), signatureFor(signed)))).toBe(
        'accepted',
      );
      expect(verdictOf(verify(callbackData({ merchant_reference: sent }), signatureFor(signed)))).toBe(
        'mismatch',
      );
    }
  });
});
