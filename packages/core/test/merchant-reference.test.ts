import { describe, expect, test } from 'vitest';
import { assertMerchantReference } from '../src/index.ts';

describe('assertMerchantReference()', () => {
  test.each(['ORD-1001', 'a b', 'é', '🛒'])('the reference %j is accepted', (reference) => {
    expect(() => assertMerchantReference(reference)).not.toThrow();
  });

  test.each(['', 'ORD:1', '\ud800', 1001, null, undefined, ['ORD-1']])(
    'threat A3: the reference %j is refused',
    (reference) => {
      expect(() => assertMerchantReference(reference)).toThrow(
        expect.objectContaining({ option: 'merchant_reference' }),
      );
    },
  );

  test('a colon is accepted only with the colonIn that lets the verifier accept it', () => {
    expect(() => assertMerchantReference('ORD:1', { colonIn: 'merchant_reference' })).not.toThrow();
    expect(() => assertMerchantReference('ORD:1', { colonIn: 'internal_reference' })).toThrow();
  });

  test('the message never shows the reference', () => {
    expect(() => assertMerchantReference('SECRET:REF')).toThrow(expect.not.stringContaining('SECRET'));
  });
});
