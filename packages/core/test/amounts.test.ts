import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  AmountMismatchError,
  assertAmount,
  bodyText,
  ConfigurationError,
  canonicalAmount,
  claimedAmounts,
  confirmAmount,
  type ExpectedAmount,
  type VerifiedCallback,
} from '../src/index.ts';
import { callbackData, QUERY, signatureFor } from './signed-callbacks.ts';
import { accepted, callbackOf, verifier, verify } from './verify.ts';

// The amount is not signed (decision D1): what a callback claims about money, and what a merchant may credit.

const ORDER: ExpectedAmount = { currency: 'UGX', amount: '500' };
const TEXT = JSON.stringify(callbackData());
const READ = '"request_amount":500';
const unread = (read: string, written: string): VerifiedCallback =>
  accepted(verify(TEXT.replaceAll(read, written)));
/** Both amounts as written in a JSON string. */
const written = (literal: string): VerifiedCallback => unread('_amount":500', `_amount":${literal}`);

/**
 * Every mismatch as one string. assertAmount() must agree: it throws if there is one, and returns the order's money otherwise.
 */
function mismatchesOf(callback: VerifiedCallback, order: Partial<ExpectedAmount> = {}): string[] {
  const expected = { ...ORDER, ...order };
  const result = confirmAmount(callback, expected);
  if (result.ok) {
    const { currency, amount } = expected;
    expect(assertAmount(callback, expected)).toEqual({ currency, amount: canonicalAmount(amount) });
    return [];
  }
  const thrown = expect.objectContaining({ mismatches: result.mismatches });
  expect(() => assertAmount(callback, expected)).toThrow(thrown);
  return result.mismatches.map(({ field, reason }) => `${field} ${reason}`);
}

const converted = { transaction_currency: 'KES', transaction_amount: 18 };
const payout = { transaction_type: 'PAYOUT' };
test.each<[what: string, payload: object, order: Partial<ExpectedAmount>, mismatches: string[]]>([
  ['that is the expected payment', {}, {}, []],
  ['with another amount', { transaction_amount: 5_000_000 }, {}, ['transaction_amount different']],
  ['in another currency', { request_currency: 'KES' }, {}, ['request_currency different']],
  ['with a currency in other case', { transaction_currency: 'ugx' }, {}, ['transaction_currency case']],
  ['without an amount', { request_amount: undefined }, {}, ['request_amount missing']],
  ['with an amount that is a string', { request_amount: '500' }, {}, ['request_amount text']],
  ['with an amount that is null', { request_amount: null }, {}, ['request_amount missing']],
  ['with an amount that is other text', { request_amount: '5e2' }, {}, ['request_amount text']],
  ['with another amount as text', { request_amount: '501' }, {}, ['request_amount different']],
  ['without a currency', { request_currency: undefined }, {}, ['request_currency missing']],
  ['that has failed', { transaction_status: 'FAILED' }, {}, ['transaction_status different']],
  ['that is a payout', payout, {}, ['transaction_type different']],
  ['that is the expected payout', payout, { ...payout, amount: 500n }, []],
  ['that is no payout, where one is expected', {}, payout, ['transaction_type different']],
  ['with a conversion', converted, { compare: 'request' }, []],
  [
    'with a conversion, by its result',
    converted,
    { currency: 'KES', amount: 18, compare: 'transaction' },
    [],
  ],
  [
    'with a conversion, by both amounts',
    converted,
    {},
    ['transaction_currency different', 'transaction_amount different'],
  ],
  [
    'whose only right amount is in another object',
    { request_amount: 7, extra: { request_amount: 500 } },
    { compare: 'request' },
    ['request_amount different'],
  ],
])('threat A2: a callback %s confirms its amount unless something differs', (_, payload, order, found) => {
  expect(mismatchesOf(callbackOf({ ...payload }), order)).toEqual(found);
  const json = JSON.stringify(callbackData({ ...payload }));
  if (!('transaction_status' in payload || 'transaction_type' in payload))
    expect(mismatchesOf(accepted(verify(json)), order)).toEqual(found);
});

test.each([
  ['500.0', '500', true],
  ['5E+2', '500', true],
  ['500.000000000000000000000', '500', true],
  ['500.000000000000000000001', '500', false],
  ['499.9999999999999999999', '500', false],
  ['9007199254740993', '9007199254740993', true],
  ['9007199254740993', '9007199254740992', false],
])('no amount passes through a float: whether %s in the body confirms %s is %s', (literal, amount, ok) => {
  const different = ['request_amount different', 'transaction_amount different'];
  expect(mismatchesOf(written(literal), { amount })).toEqual(ok ? [] : different);
});

test('an amount that a body parser has rounded is inexact, and the error says where it can be read', () => {
  const callback = callbackOf({ request_amount: 2 ** 53 });
  const order = { currency: 'UGX', amount: `${2 ** 53}`, compare: 'request' } as const;
  expect(mismatchesOf(callback, order)).toEqual(['request_amount inexact']);
  expect(() => assertAmount(callback, order)).toThrow(
    'request_amount (inexact: a body parser has rounded it; mount the route before the parser)',
  );
});

test('threat A2: unsigned fields change no signed field, and no other amount is confirmed', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.double({ noNaN: true }), (extra, amount) => {
      const { payload } = callbackData({ ...extra, request_amount: amount, transaction_amount: amount });
      const names = ['merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status'];
      for (const name of names) payload[name] = callbackData().payload[name];
      const callback = accepted(verify(callbackData(payload)));
      expect(callback.signed.merchant_reference).toBe('ORD-1001');
      if (amount !== 500) expect(mismatchesOf(callback)).not.toEqual([]);
    }),
  );
});

test('threat A54: the error of assertAmount() names what differs and what to do, and holds no value', () => {
  const person = { transaction_account: '256772999999', customer_name: 'Anna Example' };
  const callback = callbackOf({ ...person, request_amount: 731, transaction_currency: 'KES' });
  let thrown: unknown;
  try {
    assertAmount(callback, ORDER);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(AmountMismatchError);
  expect(thrown).toMatchObject({
    name: 'AmountMismatchError',
    code: 'amount_mismatch',
    message:
      'The callback is not the payment that was expected: request_amount (different), transaction_currency (different). ' +
      'Do not credit it. Hold it for manual review and return normally: an error thrown in the handler asks the sender to retry.',
  });
  const shown = inspect(thrown, { depth: 9, showHidden: true }) + JSON.stringify(thrown);
  expect(shown.replace(/at .*\n?/g, '')).not.toMatch(/731|KES|UGX|256772|Anna|ORD-|INT-/);
});

const AMOUNT =
  'confirmAmount(): amount must be a decimal string such as "1999.90", a bigint, or a number of at most 15 digits.';
const CURRENCY = 'confirmAmount(): currency must be a currency code, such as "UGX".';
test.each<[expectation: object, option: string, message: string]>([
  [{ amount: 0.1 + 0.2 }, 'amount', `${AMOUNT} It is a number.`],
  [{ amount: 'five' }, 'amount', `${AMOUNT} It is a string.`],
  [{ amount: ['5'] }, 'amount', `${AMOUNT} It is an Array.`],
  [{ amount: undefined }, 'amount', `${AMOUNT} It is undefined.`],
  [{ currency: '' }, 'currency', `${CURRENCY} It is a string.`],
  [{ currency: undefined }, 'currency', `${CURRENCY} It is undefined.`],
  [
    { compare: 'none' },
    'compare',
    "confirmAmount(): compare must be 'both', 'request' or 'transaction'. It is a string.",
  ],
])('the expectation %j is refused', (wrong, option, message) => {
  const check = () => confirmAmount(callbackOf(), { ...ORDER, ...wrong });
  expect(check).toThrow(expect.objectContaining({ code: 'invalid_configuration', option, message }));
});

const ambiguous = () => {
  const result = verify(callbackData({ merchant_reference: 'A:B' }), signatureFor('A:B'));
  if (result.ok || !result.authentic) throw new Error('There is no evidence.');
  return result.evidence;
};
const functions: readonly [string, (given: VerifiedCallback) => unknown, readsEvidence: boolean][] = [
  ['confirmAmount', (given) => confirmAmount(given, ORDER), false],
  ['assertAmount', (given) => assertAmount(given, ORDER), false],
  ['claimedAmounts', claimedAmounts, true],
  ['bodyText', bodyText, true],
];

test.each(functions)(
  'threat A4: %s() refuses a redirect, a copy and a parsed body',
  (_, run, readsEvidence) => {
    const callback = callbackOf();
    const { evidence } = { evidence: ambiguous() };
    expect(() => run(callback)).not.toThrow();
    const copies = [{ ...callback }, structuredClone({ ...callback }), callbackData(), null, 'callback'];
    for (const given of [
      accepted(verifier.verifyRedirect(QUERY)),
      ...copies,
      ...(readsEvidence ? [] : [evidence]),
    ]) {
      const check = () => run(given as never);
      expect(check).toThrow(ConfigurationError);
      expect(check).toThrow(
        /^\w+\(\) (accepts only the result of verifyCallback\(\)|does not accept a verified)/,
      );
    }
    if (readsEvidence) expect(() => run(evidence as never)).not.toThrow();
  },
);

test('the types refuse a redirect and evidence, too', () => {
  // @ts-expect-error a redirect is not a callback
  expect(() => confirmAmount(accepted(verifier.verifyRedirect(QUERY)), ORDER)).toThrow();
  // @ts-expect-error evidence is not a callback
  expect(() => confirmAmount(ambiguous(), ORDER)).toThrow();
});

test.each([
  ['500.10', '500.1'],
  ['5e2', '500'],
  ['-0.0', '0'],
  ['9007199254740993', '9007199254740993'],
])('the JSON number %s is read as %s', (literal, amount) => {
  const claims = claimedAmounts(unread(READ, `"request_amount":${literal}`));
  const transaction = { currency: 'UGX', amount: '500', isInexact: false };
  expect(claims).toEqual({ request: { ...transaction, amount }, transaction });
});

test.each([
  ['appears twice, of which the last counts', READ, '"request_amount":7,"request_amount":500'],
  ['also appears in an object before it', READ, '"extra":{"request_amount":7},"request_amount":500'],
  ['also appears in an object after it', READ, '"request_amount":500,"extra":[{"request_amount":7}]'],
  ['is also the value of another field', READ, '"extra":"request_amount","request_amount":500'],
  ['is also the end of a string', READ, '"extra":"\\"request_amount","request_amount":500'],
  ['also appears within a string', READ, '"request_amount":500,"extra":"{\\"request_amount\\":7}"'],
  ['appears twice, and then with an escape', READ, '"request_amount":7,"request_amoun\\u0074":500'],
  ['follows a member without a name', READ, '"":7,"request_amount":500'],
  ['is written with an escape', READ, '"request_amoun\\u0074":500'],
  ['is escaped, and a value', READ, '"extra":"request_amount","request_amoun\\u0074":500'],
  ['is followed by white space', READ, '"request_amount" \n:\t\r 500 '],
  ['is escaped, and followed by white space', READ, '"request_amoun\\u0074"\t :\n500'],
  ['also appears at the top level', '{"event"', '{"request_amount":7,"event"'],
  ['is at the top level too, and payload has an escape', '"payload":', '"request_amount":7,"p\\u0061yload":'],
  ['also appears at the top level, after it', '}}', '},"request_amount":7}'],
])('the amount of the payload is found when its name %s', (_where, read, literal) => {
  const callback = unread(read, literal);
  expect(callback.unsigned.request_amount).toBe(500);
  expect(claimedAmounts(callback).request.amount).toBe('500');
});

test('a missing amount is undefined, and an amount that a parser has rounded is inexact', () => {
  expect(claimedAmounts(callbackOf({ request_amount: 2 ** 60, transaction_amount: undefined }))).toEqual({
    request: { currency: 'UGX', amount: undefined, isInexact: true },
    transaction: { currency: 'UGX', amount: undefined, isInexact: false },
  });
});

test('every unsigned field can change under one signature, and is reported as unsigned', () => {
  const changed = {
    ...{ id: 7, transaction_account: '0', customer_name: 'Another Customer', charge_customer: true },
    ...{ request_currency: 'USD', request_amount: 1, transaction_currency: 'USD', transaction_amount: 5e6 },
    ...{ transaction_charge: 0, total_credit: 9, provider_code: 'other', status_message: 'ok' },
  };
  const result = accepted(verify(callbackData(changed)));
  expect({ ...result.unsigned }).toEqual(changed);
  expect({ ...result.signed }).toEqual({
    event: 'transaction.completed',
    merchant_reference: 'ORD-1001',
    internal_reference: 'INT-77',
    transaction_type: 'COLLECTION',
    transaction_status: 'COMPLETED',
  });
});

test('an amount is reachable only through unsigned and raw', () => {
  const result = callbackOf();
  const getters = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(result)));
  const names = [...Object.keys(result), ...getters.filter(([, { get }]) => get).map(([name]) => name)];
  expect(names).toContain('transitionId');
  const holders = names.filter((name) => JSON.stringify(Reflect.get(result, name)).includes(':500'));
  expect(holders.sort()).toEqual(['raw', 'unsigned']);
  expect(JSON.stringify(result)).not.toContain(':500');
});

const forgery = { request_amount: 5_000_000, transaction_amount: 5_000_000 };

test('threat A31: confirmAmount() cannot tell a claim of the payer from a claim of the service', () => {
  // If the forged amount were noticed, decision D1 would have to change.
  expect(mismatchesOf(accepted(verify(callbackData(forgery))), { amount: '5000000' })).toEqual([]);
});

test('threat A5: the forged body is not confirmed, and the genuine one after it is, as the same transition', () => {
  const [first, second] = [accepted(verify(callbackData(forgery))), accepted(verify(callbackData()))];
  expect(mismatchesOf(first)).toEqual(['request_amount different', 'transaction_amount different']);
  expect(mismatchesOf(second)).toEqual([]);
  expect(first.transitionId).toBe(second.transitionId);
});
