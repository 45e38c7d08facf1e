import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assertMerchantReference,
  ConfigurationError,
  createVerifier,
  type SignedFields,
} from '../../src/index.ts';
import { signCallback } from '../../src/testing.ts';
import { callbackData, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { dataOf, fieldString } from './field-strings.ts';

describe("threat A3, threat A32: the ':' shift", () => {
  // All 7^5 tuples of these strings.
  const strings = ['', 'a', ':', 'a:', ':a', 'aa', '::'];
  const tuples = strings.flatMap((event) =>
    strings.flatMap((merchant_reference) =>
      strings.flatMap((internal_reference) =>
        strings.flatMap((transaction_type) =>
          strings.map((transaction_status) => ({
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

  const signed = tuples.map((fields) => {
    const data = dataOf(fields);
    return { fields, data, signature: signCallback({ signingKey: SIGNING_KEY, data, timestamp: T }) };
  });

  interface Policy {
    readonly colonIn?: 'merchant_reference' | 'internal_reference';
    readonly isMerchantReference?: (reference: string) => boolean;
  }
  const any = (): boolean => true;
  const none = (): boolean => false;
  const startsWithA = (reference: string): boolean => reference.startsWith('a');
  const hasNoColon = (reference: string): boolean => !reference.includes(':');
  const isListed = (reference: string): boolean => ['', 'a:', ':a', 'aa'].includes(reference);

  // 3 of the 7 strings have no colon; a field that is named may be any of the 7.
  test.each<[name: string, policy: Policy, accepted: number]>([
    ['no options', {}, 3 ** 5],
    ['colonIn merchant_reference', { colonIn: 'merchant_reference' }, 3 ** 4 * 7],
    ...(['merchant_reference', 'internal_reference'] as const).flatMap(
      (colonIn): [string, Policy, number][] => [
        [`colonIn ${colonIn} where any string is a reference`, { colonIn, isMerchantReference: any }, 3 ** 5],
        [`colonIn ${colonIn} where no string is a reference`, { colonIn, isMerchantReference: none }, 0],
        [
          `colonIn ${colonIn} where references start with a`,
          { colonIn, isMerchantReference: startsWithA },
          -1,
        ],
        [
          `colonIn ${colonIn} where references have no colon`,
          { colonIn, isMerchantReference: hasNoColon },
          -1,
        ],
        [`colonIn ${colonIn} where references are listed`, { colonIn, isMerchantReference: isListed }, -1],
      ],
    ),
  ])('threat A3, threat A32: with %s, no two accepted bodies share a signature', (_, policy, expected) => {
    const given = createVerifier({ signingKey: SIGNING_KEY, ...policy });
    const seen = new Set<string>();
    const wrong: object[] = [];
    let refused = 0;
    for (const { fields, data, signature } of signed) {
      const result = given.verifyCallback({ signature, body: data });
      let isRight = result.ok === isUnambiguous(fields, policy);
      if (result.ok) {
        isRight &&= !seen.has(signature);
        seen.add(signature);
      } else {
        refused++;
        isRight &&= result.code === 'ambiguous' && result.authentic;
      }
      // One assertion for all: a hundred thousand of them take longer than what they look at.
      if (!isRight) wrong.push({ fields, result });
    }
    expect(wrong).toEqual([]);
    if (expected >= 0) expect(seen.size).toBe(expected);
    else expect(seen.size).toBeGreaterThan(0);
    expect(refused).toBe(tuples.length - seen.size);
  });

  /** The rule, written a second time: by all tuples that join to the same string. */
  function isUnambiguous(fields: SignedFields, { colonIn, isMerchantReference }: Policy): boolean {
    const names = Object.keys(fields) as (keyof SignedFields)[];
    if (names.some((name) => name !== colonIn && fields[name].includes(':'))) return false;
    if (isMerchantReference === undefined) return true;
    const parts = `${fields.merchant_reference}:${fields.internal_reference}`.split(':');
    const splits = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join(':'));
    const recognised = splits.filter(isMerchantReference);
    return recognised.length === 1 && recognised[0] === fields.merchant_reference;
  }

  test('threat A3: control: without the rule thousands of these bodies would share a signature', () => {
    const messages = tuples.map((fields) => Object.values(fields).join(':'));
    expect(tuples.length - new Set(messages).size).toBeGreaterThan(5000);
  });

  test('threat A3: assertMerchantReference() accepts exactly what can be verified later', () => {
    fc.assert(
      fc.property(
        fieldString,
        fc.constantFrom(undefined, 'merchant_reference', 'internal_reference'),
        (reference, colonIn) => {
          const data = { event: 'e', payload: { ...callbackData().payload, merchant_reference: reference } };
          const isVerifiable =
            reference.isWellFormed() &&
            createVerifier({
              signingKey: SIGNING_KEY,
              ...(colonIn === 'internal_reference'
                ? { colonIn, isMerchantReference: hasNoColon }
                : { colonIn }),
            }).verifyCallback({
              signature: signCallback({ signingKey: SIGNING_KEY, data }),
              body: data,
            }).ok;
          let passes = true;
          try {
            assertMerchantReference(reference, { colonIn });
          } catch (error) {
            expect(error).toBeInstanceOf(ConfigurationError);
            passes = false;
          }
          // An empty reference verifies, but no order should have it.
          expect(passes).toBe(isVerifiable && reference !== '');
        },
      ),
    );
  });
});
