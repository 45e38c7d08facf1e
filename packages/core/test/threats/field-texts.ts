import fc from 'fast-check';
import type { SignedFields } from '../../src/index.ts';

/** Texts that an attacker would try in a signed field. */
export const fieldText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', ':', 'a:b', '\ufffd', '\0', '__proto__', 'undefined', 'é', 'e\u0301'),
);

export const signedFields: fc.Arbitrary<SignedFields> = fc.record({
  event: fieldText,
  merchant_reference: fieldText,
  internal_reference: fieldText,
  transaction_type: fieldText,
  transaction_status: fieldText,
});

/** A callback of these fields and no others. */
export function dataOf({ event, ...payload }: SignedFields): { event: string; payload: object } {
  return { event, payload };
}
