import { describe, expect, test } from 'vitest';
import { assertMerchantReference } from '../src/index.ts';

describe('assertMerchantReference()', () => {
  test.each(['ORD-1001', 'a b', 'é', '🛒'])('the reference %j is accepted', (reference) => {
    expect(() => assertMerchantReference(reference)).not.toThrow();
  });

  test.each<[reference: unknown, problem: string]>([
    ['', 'is empty. Give every order its own.'],
    [
      'ORD:1',
      "contains ':', which separates the signed fields. Remove it, or set colonIn here and in the verifier.",
    ],
    ['\ud800', 'is not well-formed Unicode: it contains half of a surrogate pair.'],
    ...[1001, null, undefined, ['ORD-1']].map((value): [unknown, string] => [value, 'is not a string.']),
  ])('threat A3: the reference %j is refused, since it %s', (reference, problem) => {
    expect(() => assertMerchantReference(reference)).toThrow(
      expect.objectContaining({
        option: 'merchant_reference',
        message: `A callback for this merchant reference could not be verified: the reference ${problem}`,
      }),
    );
  });

  test('a colon is accepted only with the colonIn that lets the verifier accept it', () => {
    expect(() => assertMerchantReference('ORD:1', { colonIn: 'merchant_reference' })).not.toThrow();
    expect(() => assertMerchantReference('ORD:1', { colonIn: 'internal_reference' })).toThrow();
  });

  test('the message never shows the reference', () => {
    expect(() => assertMerchantReference('SECRET:REF')).toThrow(expect.not.stringContaining('SECRET'));
  });
});
