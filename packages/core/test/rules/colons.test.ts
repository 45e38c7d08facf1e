import { describe, expect, test } from 'vitest';
import { createVerifier } from '../../src/index.ts';
import { callbackData, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';
import { verdictOf, verify } from './verify.ts';

// Decision D4 of "What the signature proves", beside the vectors of the contract: bodies that sign alike, and construction.

describe("3.4 ':' in a signed field is ambiguous, but in the one field that colonIn names", () => {
  const paid = callbackData({ merchant_reference: 'ORD-9999:x' });
  const shifted = callbackData({ merchant_reference: 'ORD-9999', internal_reference: 'x:INT-77' });
  const signature = signatureFor('ORD-9999:x');

  test.each([
    [undefined, 'ambiguous, authentic', 'ambiguous, authentic'],
    ['merchant_reference', 'accepted', 'ambiguous, authentic'],
    ['internal_reference', 'ambiguous, authentic', 'accepted'],
  ] as const)(
    'colonIn %s: of two bodies that sign alike, at most one verifies',
    (colonIn, asPaid, asShifted) => {
      expect(verdictOf(verify(paid, signature, { colonIn }))).toBe(asPaid);
      expect(verdictOf(verify(shifted, signature, { colonIn }))).toBe(asShifted);
    },
  );

  test('colonIn names one of the two references, or is refused at construction', () => {
    for (const colonIn of ['event', 'transaction_status', '', true, ['merchant_reference']]) {
      const options = { signingKey: SIGNING_KEY, colonIn: colonIn as 'merchant_reference' };
      expect(() => createVerifier(options)).toThrow(expect.objectContaining({ option: 'colonIn' }));
    }
  });
});
