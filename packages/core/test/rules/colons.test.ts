import { describe, expect, test } from 'vitest';
import { createVerifier, type VerifierOptions } from '../../src/index.ts';
import { isAmbiguous } from '../../src/verify/signed-fields.ts';
import { callbackData, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';
import { verdictOf, verify } from './verify.ts';

// Decision D4, beside the vectors of the contract: bodies that share a signature, and construction.

describe("decision D4: ':' in a signed field is ambiguous, except in the one field that colonIn names", () => {
  const paid = callbackData({ merchant_reference: 'ORD-9999:x' });
  const shifted = callbackData({ merchant_reference: 'ORD-9999', internal_reference: 'x:INT-77' });
  const signature = signatureFor('ORD-9999:x');
  const isMerchantReference = (reference: string): boolean => /^ORD-\d+$/.test(reference);

  test.each([
    [undefined, 'ambiguous, authentic', 'ambiguous, authentic'],
    ['merchant_reference', 'accepted', 'ambiguous, authentic'],
    ['internal_reference', 'ambiguous, authentic', 'accepted'],
  ] as const)(
    'with colonIn %s, at most one of two bodies that share a signature verifies',
    (colonIn, asPaid, asShifted) => {
      const options = colonIn === 'internal_reference' ? { colonIn, isMerchantReference } : { colonIn };
      expect(verdictOf(verify(paid, signature, options))).toBe(asPaid);
      expect(verdictOf(verify(shifted, signature, options))).toBe(asShifted);
    },
  );

  test('a colonIn other than the two references is refused at construction', () => {
    for (const colonIn of ['event', 'transaction_status', '', true, ['merchant_reference']]) {
      const options = { signingKey: SIGNING_KEY, colonIn: colonIn as 'merchant_reference' };
      const message = 'colonIn must be merchant_reference or internal_reference, or be left out.';
      expect(() => createVerifier(options)).toThrow(expect.objectContaining({ option: 'colonIn', message }));
    }
  });

  test.each<[name: string, options: Partial<VerifierOptions>]>([
    ["colonIn: 'internal_reference' without isMerchantReference", { colonIn: 'internal_reference' }],
    [
      'an isMerchantReference that is not a function',
      { colonIn: 'internal_reference', isMerchantReference: /^ORD-/ as never },
    ],
    ['an isMerchantReference without colonIn', { isMerchantReference }],
  ])('threat A32: %s is refused at construction', (_, options) => {
    expect(() => createVerifier({ signingKey: SIGNING_KEY, ...options })).toThrow(
      expect.objectContaining({
        option: 'isMerchantReference',
        message: expect.stringMatching(
          /^isMerchantReference (must be a function|needs colonIn\. colonIn: 'internal_reference' needs isMerchantReference, or a customer could move text between the references\.$)/,
        ),
      }),
    );
  });

  test.each<[name: string, isMerchantReference: (reference: string) => never]>([
    [
      'throws',
      () => {
        throw new Error('a bug of the merchant');
      },
    ],
    ['answers a truthy value that is not true', () => 1 as never],
    ['answers a promise', () => Promise.resolve(true) as never],
  ])(
    'decision D8: a predicate that %s recognises no reference, and verification stays total',
    (_, predicate) => {
      const options = { colonIn: 'internal_reference', isMerchantReference: predicate } as const;
      expect(verdictOf(verify(shifted, signature, options))).toBe('ambiguous, authentic');
      expect(verdictOf(verify(callbackData(), undefined, options))).toBe('ambiguous, authentic');
    },
  );

  test('decision D8: a predicate that throws on every other string still recognises its own reference', () => {
    const options = {
      colonIn: 'internal_reference',
      isMerchantReference: (reference: string) => {
        if (reference !== 'ORD-9999') throw new Error('a bug of the merchant');
        return true;
      },
    } as const;
    expect(verdictOf(verify(shifted, signature, options))).toBe('accepted');
  });

  test.each([
    [1, 1],
    [65, 65],
    [256, 256],
    [257, 256],
    [30_000, 256],
  ])('threat A32: for references with %i colons, isMerchantReference is asked %i times', (colons, times) => {
    let asked = 0;
    const rule = {
      colonIn: 'internal_reference',
      isMerchantReference: (reference: string) => {
        asked++;
        return reference === 'ORD-1';
      },
    } as const;
    const fields = {
      event: 'transaction.completed',
      merchant_reference: 'ORD-1',
      internal_reference: `INT${':x'.repeat(colons - 1)}`,
      transaction_type: 'COLLECTION',
      transaction_status: 'COMPLETED',
    };
    expect(isAmbiguous(fields, rule)).toBe(colons > 256);
    expect(asked).toBe(times);
  });
});
