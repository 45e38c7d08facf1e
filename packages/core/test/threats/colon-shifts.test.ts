import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assertMerchantReference, ConfigurationError, createVerifier } from '../../src/index.ts';
import { signCallback } from '../../src/testing.ts';
import { callbackData, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { dataOf, fieldText } from './field-texts.ts';

describe("threat A3: a shift over ':'", () => {
  // Every tuple over this alphabet up to two characters a field: 7^5 of them.
  const texts = ['', 'a', ':', 'a:', ':a', 'aa', '::'];
  const tuples = texts.flatMap((event) =>
    texts.flatMap((merchant_reference) =>
      texts.flatMap((internal_reference) =>
        texts.flatMap((transaction_type) =>
          texts.map((transaction_status) => ({
            event,
            merchant_reference,
            internal_reference,
            transaction_type,
            transaction_status,
          })),
        ),
      ),
    ),
  );

  test.each([undefined, 'merchant_reference', 'internal_reference'] as const)(
    'threat A3: with colonIn %s no two accepted bodies share a signature, exhaustively',
    (colonIn) => {
      const given = createVerifier({ signingKey: SIGNING_KEY, colonIn });
      const seen = new Map<string, string>();
      let refused = 0;
      for (const fields of tuples) {
        const data = dataOf(fields);
        const signature = signCallback({ signingKey: SIGNING_KEY, data, timestamp: T });
        const result = given.verifyCallback({ signature, body: data });
        if (result.ok) {
          expect(seen.get(signature)).toBeUndefined();
          seen.set(signature, JSON.stringify(fields));
        } else {
          refused++;
          expect(result).toMatchObject({ code: 'ambiguous', authentic: true });
        }
      }
      // 3 of the 7 texts hold no colon; the field that is named may hold any of the 7.
      expect(seen.size).toBe(colonIn === undefined ? 3 ** 5 : 3 ** 4 * 7);
      expect(refused).toBe(tuples.length - seen.size);
    },
  );

  test('threat A3: control: without the rule thousands of these bodies would share a signature', () => {
    const signatures = tuples.map((fields) => Object.values(fields).join(':'));
    expect(tuples.length - new Set(signatures).size).toBeGreaterThan(5000);
  });

  test('threat A3: assertMerchantReference passes exactly what can be verified later', () => {
    fc.assert(
      fc.property(
        fieldText,
        fc.constantFrom(undefined, 'merchant_reference', 'internal_reference'),
        (text, colonIn) => {
          const data = { event: 'e', payload: { ...callbackData().payload, merchant_reference: text } };
          const isVerifiable =
            text.isWellFormed() &&
            createVerifier({ signingKey: SIGNING_KEY, colonIn }).verifyCallback({
              signature: signCallback({ signingKey: SIGNING_KEY, data }),
              body: data,
            }).ok;
          let passes = true;
          try {
            assertMerchantReference(text, { colonIn });
          } catch (error) {
            expect(error).toBeInstanceOf(ConfigurationError);
            passes = false;
          }
          // An empty one verifies, and no order should have it.
          expect(passes).toBe(isVerifiable && text !== '');
        },
      ),
    );
  });
});
