import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  assertMerchantReference,
  ConfigurationError,
  createVerifier,
  type SignedFields,
  type VerifierOptions,
} from '../../src/index.ts';
import { isAmbiguous } from '../../src/verify/signed-fields.ts';
import { anyString } from '../anything.ts';
import { callbackData, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';
import { misconfigured, sign, verdictOf, verify } from '../verify.ts';

// Decision D4: ':' in a signed field is ambiguous, except in the one field that colonIn names.

type Policy = Pick<VerifierOptions, 'colonIn' | 'isMerchantReference'>;
const hasNoColon = (reference: string): boolean => !reference.includes(':');

// All 7^5 tuples of these strings.
const strings = ['', 'a', ':', 'a:', ':a', 'aa', '::'];
const names = ['event', 'merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status'];
const tuples = names.reduce<object[]>(
  (all, name) => all.flatMap((fields) => strings.map((text) => ({ ...fields, [name]: text }))),
  [{}],
) as SignedFields[];
const signed = tuples.map((fields) => {
  const { event, ...payload } = fields;
  const data = { event, payload };
  return { fields, data, signature: sign(data) };
});

/** The rule, written a second time: in terms of all tuples that join to the same string. */
function isUnambiguous(fields: SignedFields, { colonIn, isMerchantReference }: Policy): boolean {
  const all = Object.entries(fields);
  if (all.some(([name, text]) => name !== colonIn && text.includes(':'))) return false;
  if (isMerchantReference === undefined) return true;
  const parts = `${fields.merchant_reference}:${fields.internal_reference}`.split(':');
  const splits = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join(':'));
  const recognised = splits.filter(isMerchantReference);
  return recognised.length === 1 && recognised[0] === fields.merchant_reference;
}

// 3 of the 7 strings have no colon; the field named by colonIn may be any of the 7.
const predicates: [name: string, isMerchantReference: (reference: string) => boolean, accepted?: number][] = [
  ['any string is a reference', () => true, 3 ** 5],
  ['no string is a reference', () => false, 0],
  ['references start with a', (reference) => reference.startsWith('a')],
  ['references have no colon', hasNoColon],
  ['references are listed', (reference) => ['', 'a:', ':a', 'aa'].includes(reference)],
];
test.each<[name: string, policy: Policy, accepted: number | undefined]>([
  ['no options', {}, 3 ** 5],
  ['colonIn merchant_reference', { colonIn: 'merchant_reference' }, 3 ** 4 * 7],
  ...(['merchant_reference', 'internal_reference'] as const).flatMap((colonIn) =>
    predicates.map(([name, isMerchantReference, accepted]): [string, Policy, number | undefined] => [
      `colonIn ${colonIn} where ${name}`,
      { colonIn, isMerchantReference },
      accepted,
    ]),
  ),
])('threat A3, threat A32: with %s, no two accepted bodies share a signature', (_, policy, expected) => {
  const given = createVerifier({ signingKey: SIGNING_KEY, ...policy });
  const seen = new Set<string>();
  const wrong: object[] = [];
  for (const { fields, data, signature } of signed) {
    const result = given.verifyCallback({ signature, body: data });
    const isRight = result.ok ? !seen.has(signature) : result.code === 'ambiguous' && result.authentic;
    if (result.ok) seen.add(signature);
    // One assertion for all: a hundred thousand assertions would take longer than the code under test.
    if (!isRight || result.ok !== isUnambiguous(fields, policy)) wrong.push({ fields, result });
  }
  expect(wrong).toEqual([]);
  if (expected === undefined) expect(seen.size).toBeGreaterThan(0);
  else expect(seen.size).toBe(expected);
});

const colonIn = 'internal_reference';
const bug = (): never => {
  throw new Error('a bug of the merchant');
};
test.each<[name: string, predicate: (reference: string) => unknown, verdict: string]>([
  ['throws', bug, 'ambiguous, authentic'],
  ['returns a truthy value that is not true', () => 1, 'ambiguous, authentic'],
  ['returns a promise', () => Promise.resolve(true), 'ambiguous, authentic'],
  ['throws on every other string', (reference) => reference === 'ORD-9999' || bug(), 'accepted'],
])(
  'decision D8: a predicate that %s recognises only what it says, and verification stays total',
  (...row) => {
    const [, predicate, verdict] = row;
    const options = { colonIn, isMerchantReference: predicate as () => boolean } as const;
    const shifted = callbackData({ merchant_reference: 'ORD-9999', internal_reference: 'x:INT-77' });
    expect(verdictOf(verify(shifted, signatureFor('ORD-9999:x'), options))).toBe(verdict);
    expect(verdictOf(verify(callbackData(), undefined, options))).toBe('ambiguous, authentic');
  },
);

test.each([
  [1, 1],
  [65, 65],
  [256, 256],
  [257, 256],
  [30_000, 256],
])('threat A32: for references with %i colons, isMerchantReference is asked %i times', (colons, times) => {
  let asked = 0;
  const isMerchantReference = (reference: string): boolean => ++asked > 0 && reference === 'ORD-1';
  const fields = {
    ...{ event: 'transaction.completed', transaction_type: 'COLLECTION', transaction_status: 'COMPLETED' },
    ...{ merchant_reference: 'ORD-1', internal_reference: `INT${':x'.repeat(colons - 1)}` },
  };
  expect(isAmbiguous(fields, { colonIn, isMerchantReference })).toBe(colons > 256);
  expect(asked).toBe(times);
});

test.each<[reference: unknown, problem: string]>([
  ['', 'is empty. Give every order its own.'],
  [
    'SECRET:1',
    "contains ':', which separates the signed fields. Remove it, or set the same colonIn in the verifier, in createInbox() and in assertMerchantReference().",
  ],
  ['SECRET\ud800', 'is not well-formed Unicode: it contains half of a surrogate pair.'],
  [1001, 'must be a string. It is a number.'],
  [null, 'must be a string. It is null.'],
  [undefined, 'must be a string. It is undefined.'],
  [['ORD-1'], 'must be a string. It is an Array.'],
  [Promise.resolve('ORD-1'), 'must be a string. It is a promise: await it.'],
])('threat A3, decision D69: the reference %j is refused, since it %s', (reference, problem) => {
  const message = `assertMerchantReference(): a callback for this merchant reference could not be verified. The reference ${problem}`;
  expect(() => assertMerchantReference(reference)).toThrow(misconfigured('merchant_reference', message));
});

test('threat A3: assertMerchantReference() accepts exactly what can be verified later', () => {
  const reference = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    anyString(12),
    fc.constantFrom('', ':', 'a:b', '\ufffd', '\0', '__proto__', 'undefined', 'é', 'e\u0301'),
  );
  const policies = fc.constantFrom<Policy>(
    ...[
      {},
      { colonIn: 'merchant_reference' } as const,
      { colonIn, isMerchantReference: hasNoColon } as const,
    ],
  );
  const passes = (merchant_reference: string, colonIn: Policy['colonIn']): boolean => {
    try {
      assertMerchantReference(merchant_reference, { colonIn });
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
      return false;
    }
    return true;
  };
  fc.assert(
    fc.property(reference, policies, (merchant_reference, policy) => {
      const data = callbackData({ merchant_reference });
      const isVerifiable = merchant_reference.isWellFormed() && verify(data, sign(data), policy).ok;
      // An empty reference verifies, but no order should have it.
      expect(passes(merchant_reference, policy.colonIn)).toBe(isVerifiable && merchant_reference !== '');
    }),
    {
      examples: [
        ['ORD:1', { colonIn: 'merchant_reference' }],
        ['ORD:1', { colonIn, isMerchantReference: hasNoColon }],
      ],
    },
  );
});
