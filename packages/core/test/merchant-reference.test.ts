import { describe, expect, it } from 'vitest';
import { assertMerchantReference } from '../src/index.ts';

describe('assertMerchantReference', () => {
  it.each(['ORD-1001', 'a b', 'é', '🛒'])('passes %j', (text) => {
    expect(() => assertMerchantReference(text)).not.toThrow();
  });

  it.each(['', 'ORD:1', '\ud800', 1001, null, undefined, ['ORD-1']])('threat A3: refuses %j', (text) => {
    expect(() => assertMerchantReference(text)).toThrow(
      expect.objectContaining({ option: 'merchant_reference' }),
    );
  });

  it('allows a colon where the verifier does', () => {
    expect(() => assertMerchantReference('ORD:1', { colonIn: 'merchant_reference' })).not.toThrow();
    expect(() => assertMerchantReference('ORD:1', { colonIn: 'internal_reference' })).toThrow();
  });

  it('never repeats the text in the message', () => {
    expect(() => assertMerchantReference('SECRET:REF')).toThrow(expect.not.stringContaining('SECRET'));
  });
});
