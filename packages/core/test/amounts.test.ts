import { expect, test } from 'vitest';
import * as core from '../src/index.ts';
import { claimedAmounts } from '../src/money/amounts.ts';
import { shown } from './shown.ts';
import { callbackData, QUERY } from './signed-callbacks.ts';
import { accepted, callbackOf, evidence, misconfigured, verifier, verify } from './verify.ts';

// The amount is not signed (decision D1): what a callback claims about money, and what a merchant may credit. What is not the
// result of verifyCallback() has no amount (decision D3).

type Callback = core.VerifiedCallback;
type Expected = Partial<core.ExpectedAmount>;
const ORDER: core.ExpectedAmount = { currency: 'UGX', amount: '500' };
const TEXT = JSON.stringify(callbackData());
const READ = '"request_amount":500';
const unread = (read: string, written: string): Callback => accepted(verify(TEXT.replaceAll(read, written)));

/**
 * Every mismatch as one string. assertAmount() must agree: it throws if there is one, and returns the order's money otherwise.
 */
function mismatchesOf(callback: Callback, order: Expected = {}): string[] {
  const expected = { ...ORDER, ...order };
  const result = core.confirmAmount(callback, expected);
  const check = () => core.assertAmount(callback, expected);
  if (result.ok) {
    const { currency, amount } = expected;
    expect(check()).toEqual({ currency, amount: core.canonicalAmount(amount) });
    return [];
  }
  expect(check).toThrow(expect.objectContaining({ mismatches: result.mismatches }));
  return result.mismatches.map(({ field, reason }) => `${field} ${reason}`);
}

const DIFFERENT = ['request_amount different', 'transaction_amount different'];
const converted = { transaction_currency: 'KES', transaction_amount: 18 };
const payout = { transaction_type: 'PAYOUT' };
const hidden = { request_amount: 7, extra: { request_amount: 500 } };
test.each<[what: string, payload: object, order: Expected, ...mismatches: string[]]>([
  ['that is the expected payment', {}, {}],
  ['with another amount', { transaction_amount: 5_000_000 }, {}, 'transaction_amount different'],
  ['in another currency', { request_currency: 'KES' }, {}, 'request_currency different'],
  ['with a currency in other case', { transaction_currency: 'ugx' }, {}, 'transaction_currency case'],
  ['without an amount', { request_amount: undefined }, {}, 'request_amount missing'],
  ['with an amount that is a string', { request_amount: '500' }, {}, 'request_amount text'],
  ['with an amount that is null', { request_amount: null }, {}, 'request_amount missing'],
  ['with an amount that is other text', { request_amount: '5e2' }, {}, 'request_amount text'],
  ['with another amount as text', { request_amount: '501' }, {}, 'request_amount different'],
  ['without a currency', { request_currency: undefined }, {}, 'request_currency missing'],
  ['that has failed', { transaction_status: 'FAILED' }, {}, 'transaction_status different'],
  ['that is a payout', payout, {}, 'transaction_type different'],
  ['that is the expected payout', payout, { ...payout, amount: 500n }],
  ['that is no payout, where one is expected', {}, payout, 'transaction_type different'],
  ['with a conversion', converted, { compare: 'request' }],
  ['with a conversion, by its result', converted, { currency: 'KES', amount: 18, compare: 'transaction' }],
  ['with a conversion', converted, {}, 'transaction_currency different', 'transaction_amount different'],
  ['whose right amount is elsewhere', hidden, { compare: 'request' }, 'request_amount different'],
])('threat A2: a callback %s confirms its amount unless something differs', (_, payload, order, ...found) => {
  expect(mismatchesOf(callbackOf({ ...payload }), order)).toEqual(found);
  if ('transaction_status' in payload || 'transaction_type' in payload) return;
  expect(mismatchesOf(accepted(verify(JSON.stringify(callbackData({ ...payload })))), order)).toEqual(found);
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
  const callback = unread('_amount":500', `_amount":${literal}`);
  expect(mismatchesOf(callback, { amount })).toEqual(ok ? [] : DIFFERENT);
});

test('an amount that a body parser has rounded is inexact, and the error says where it can be read', () => {
  const callback = callbackOf({ request_amount: 2 ** 53 });
  const order = { currency: 'UGX', amount: `${2 ** 53}`, compare: 'request' } as const;
  expect(mismatchesOf(callback, order)).toEqual(['request_amount inexact']);
  expect(() => core.assertAmount(callback, order)).toThrow(
    'request_amount (inexact: a body parser has rounded it; mount the route before the parser)',
  );
});

test('threat A54: the error of assertAmount() names what differs and what to do, and holds no value', () => {
  const person = { transaction_account: '256772999999', customer_name: 'Anna Example' };
  const callback = callbackOf({ ...person, request_amount: 731, transaction_currency: 'KES' });
  const message =
    'The callback does not match the expected payment: request_amount (different), transaction_currency (different). ' +
    'Do not credit it. Hold it for manual review and return normally: an error thrown in the handler asks the sender to retry.';
  let thrown: unknown;
  try {
    core.assertAmount(callback, ORDER);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(core.AmountMismatchError);
  expect(thrown).toMatchObject({ name: 'AmountMismatchError', code: 'amount_mismatch', message });
  expect(shown(thrown).replace(/at .*\n?|\\n +at .*?(?=\\n|")/g, '')).not.toMatch(
    /731|KES|UGX|256772|Anna|ORD-/,
  );
});

const AMOUNT =
  'amount must be a decimal string such as "1999.90", a bigint, or a number of at most 15 digits.';
const CURRENCY = 'currency must be a currency code, such as "UGX".';
test.each<[expectation: Record<string, unknown>, message: string]>([
  [{ amount: 0.1 + 0.2 }, `${AMOUNT} It is a number.`],
  [{ amount: 'five' }, `${AMOUNT} It is a string.`],
  [{ amount: ['5'] }, `${AMOUNT} It is an Array.`],
  [{ amount: undefined }, `${AMOUNT} It is undefined.`],
  [{ currency: '' }, `${CURRENCY} It is a string.`],
  [{ currency: undefined }, `${CURRENCY} It is undefined.`],
  [{ compare: 'none' }, "compare must be 'both', 'request' or 'transaction'. It is a string."],
])('the expectation %j is refused', (wrong, message) => {
  const [option = ''] = Object.keys(wrong);
  const check = () => core.confirmAmount(callbackOf(), { ...ORDER, ...wrong });
  expect(check).toThrow(misconfigured(option, `confirmAmount(): ${message}`));
});

const functions: [string, (given: Callback) => unknown, readsEvidence: boolean][] = [
  ['confirmAmount', (given) => core.confirmAmount(given, ORDER), false],
  ['assertAmount', (given) => core.assertAmount(given, ORDER), false],
  ['claimedAmounts', claimedAmounts, true],
  ['bodyText', core.bodyText, true],
];
test.each(functions)(
  'threat A4: %s() refuses a redirect, a copy and a parsed body',
  (_, run, readsEvidence) => {
    const callback = callbackOf();
    const copies = [{ ...callback }, structuredClone({ ...callback }), callbackData(), null, 'callback'];
    const others = [accepted(verifier.verifyRedirect(QUERY)), ...copies];
    for (const given of readsEvidence ? others : [...others, evidence()]) {
      const check = () => run(given as never);
      expect(check).toThrow(core.ConfigurationError);
      expect(check).toThrow(
        /^\w+\(\) (accepts only the result of verifyCallback\(\)|does not accept a verified)/,
      );
    }
    for (const given of readsEvidence ? [callback, evidence()] : [callback])
      expect(() => run(given as never)).not.toThrow();
  },
);

test('the types refuse a redirect and evidence, too', () => {
  // @ts-expect-error a redirect is not a callback
  expect(() => core.confirmAmount(accepted(verifier.verifyRedirect(QUERY)), ORDER)).toThrow();
  // @ts-expect-error evidence is not a callback
  expect(() => core.confirmAmount(evidence(), ORDER)).toThrow();
});

test.each([
  ['appears twice, of which the last counts', READ, '"request_amount":7,"request_amount":500'],
  ['also appears in an object before it', READ, '"extra":{"request_amount":7},"request_amount":500'],
  ['also appears in an object after it', READ, '"request_amount":500,"extra":[{"request_amount":7}]'],
  ['is also the value of another field', READ, '"extra":"request_amount","request_amount":500'],
  ['is also the end of a string', READ, '"extra":"\\"request_amount","request_amount":500'],
  ['also appears within a string', READ, '"request_amount":500,"extra":"{\\"request_amount\\":7}"'],
  ['appears twice, and then with an escape', READ, '"request_amount":7,"request_amoun\\u0074":500'],
  ['has a number with an exponent', READ, '"request_amount":5.00e+2'],
  ['follows a member without a name', READ, '"":7,"request_amount":500'],
  ['is written with an escape', READ, '"request_amoun\\u0074":500'],
  ['is escaped, and a value', READ, '"extra":"request_amount","request_amoun\\u0074":500'],
  ['is followed by white space', READ, '"request_amount" \n:\t\r 500 '],
  ['is escaped, and followed by white space', READ, '"request_amoun\\u0074"\t :\n500'],
  ['also appears at the top level', '{"event"', '{"request_amount":7,"event"'],
  ['is at the top level, beside an escape', '"payload":', '"request_amount":7,"p\\u0061yload":'],
  ['also appears at the top level, after it', '}}', '},"request_amount":7}'],
])('the amount of the payload is found when its name %s', (_where, read, literal) => {
  const callback = unread(read, literal);
  expect(callback.unsigned.request_amount).toBe(500);
  const claim = { currency: 'UGX', amount: '500', isInexact: false };
  expect(claimedAmounts(callback)).toEqual({ request: claim, transaction: claim });
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
    ...{ event: 'transaction.completed', merchant_reference: 'ORD-1001', internal_reference: 'INT-77' },
    ...{ transaction_type: 'COLLECTION', transaction_status: 'COMPLETED' },
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

test('threat A31, threat A5: confirmAmount() believes a forged claim, and one forged body spoils no genuine one', () => {
  const forgery = accepted(
    verify(callbackData({ request_amount: 5_000_000, transaction_amount: 5_000_000 })),
  );
  // If the forged amount were noticed, decision D1 would have to change.
  expect(mismatchesOf(forgery, { amount: '5000000' })).toEqual([]);
  expect(mismatchesOf(forgery)).toEqual(DIFFERENT);
  const genuine = accepted(verify(callbackData()));
  expect(mismatchesOf(genuine)).toEqual([]);
  expect(genuine.transitionId).toBe(forgery.transitionId);
});
