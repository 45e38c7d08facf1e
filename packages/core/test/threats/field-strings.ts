import fc from 'fast-check';
import type { SignedFields } from '../../src/index.ts';

/** Strings that an attacker would try in a signed field. */
export const fieldString: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', ':', 'a:b', '\ufffd', '\0', '__proto__', 'undefined', 'é', 'e\u0301'),
);

export const signedFields: fc.Arbitrary<SignedFields> = fc.record({
  event: fieldString,
  merchant_reference: fieldString,
  internal_reference: fieldString,
  transaction_type: fieldString,
  transaction_status: fieldString,
});

/** A callback of these fields and no others. */
export function dataOf({ event, ...payload }: SignedFields): { event: string; payload: object } {
  return { event, payload };
}
