import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PaymentProvider } from '../src/client/client.ts';
import {
  eligibleProviders,
  type IneligibilityCode,
  type IntendedPayment,
} from '../src/client/selection/eligible-providers.ts';
import { provider as mtn } from './client/wire-samples.ts';

const named = { provider_name: 'Example Bank', provider_code: 'example_bank' };
const bank: PaymentProvider = { ...mtn, ...named, option_prefixes: [] };
const fits: IntendedPayment = {
  ...{ account: '256772000001', amount: 500 },
  ...{ currency: 'UGX', transaction_type: 'COLLECTION' },
};

function reasonsFor(payment: IntendedPayment, change: Partial<PaymentProvider> = {}): IneligibilityCode[] {
  const { eligible, ineligible } = eligibleProviders([{ ...mtn, ...change }], payment);
  expect(eligible.length + ineligible.length).toBe(1);
  return ineligible.flatMap(({ reasons }) => reasons.map(({ code }) => code));
}

test('fields that are left out are not checked', () => {
  expect(eligibleProviders([mtn, bank], {})).toEqual({ eligible: [mtn, bank], ineligible: [] });
  expect(eligibleProviders([mtn, bank], fits)).toEqual({ eligible: [mtn, bank], ineligible: [] });
  expect(eligibleProviders([], fits)).toEqual({ eligible: [], ineligible: [] });
});

test('every reason is given in a fixed order with a message for the customer', () => {
  const payment = { account: '254700', amount: '499.99', currency: 'KES', transaction_type: 'PAYOUT' };
  const inactive = { ...mtn, is_active: false };
  const { eligible, ineligible } = eligibleProviders([inactive], payment);
  expect([eligible, ineligible[0]?.provider]).toEqual([[], inactive]);
  expect(ineligible[0]?.reasons.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'inactive: Example Mobile Money is not available at the moment.',
    'currency_differs: Example Mobile Money accepts only UGX.',
    'transaction_type_differs: Example Mobile Money supports only transactions of type Collection.',
    'amount_below_minimum: Example Mobile Money accepts at least UGX\u00a0500 per transaction.',
    'account_prefix_differs: Example Mobile Money supports only accounts that start with 25677, 25678.',
  ]);
});

test('no message repeats the account', () => {
  const { ineligible } = eligibleProviders([mtn], { account: '254700123456' });
  expect(JSON.stringify(ineligible)).not.toContain('254700123456');
});

test.each<[payment: IntendedPayment, IneligibilityCode[]]>([
  ...['COLLECTION', 'Collection', 'collection'].map(
    (transaction_type): [IntendedPayment, IneligibilityCode[]] => [{ transaction_type }, []],
  ),
  ...['PAYOUT', '', 'COLLECTION '].map((transaction_type): [IntendedPayment, IneligibilityCode[]] => [
    { transaction_type },
    ['transaction_type_differs'],
  ]),
  [{ currency: 'ugx' }, ['currency_differs']],
])(
  'transaction types ignore letter case, and currencies do not: %j has the reasons %j',
  (payment, expected) => {
    expect(reasonsFor(payment)).toEqual(expected);
  },
);

test.each<[string | number | bigint, IneligibilityCode[]]>([
  [500, []],
  [' 500.00 ', []],
  [500n, []],
  ['5000000.000', []],
  [499, ['amount_below_minimum']],
  ['499.99999999999999999999', ['amount_below_minimum']],
  ['5000000.00000000000000000001', ['amount_above_maximum']],
  ['20000000', ['amount_above_maximum']],
  ['20000000.01', ['amount_above_maximum', 'amount_above_daily_maximum']],
  [10n ** 60n, ['amount_above_maximum', 'amount_above_daily_maximum']],
])('the amount %s has the reasons %j', (amount, expected) => {
  expect(reasonsFor({ amount })).toEqual(expected);
});

test('limits are written with grouped digits, and with every decimal that they have', () => {
  const limited = { ...mtn, max_amount: 0.000123, max_daily_amount: 20000000.5 };
  const { ineligible } = eligibleProviders([limited], { amount: 30000000 });
  expect(ineligible[0]?.reasons.map(({ message }) => message)).toEqual([
    'Example Mobile Money accepts at most UGX\u00a00.000123 per transaction.',
    'Example Mobile Money accepts at most UGX\u00a020,000,000.5 per day.',
  ]);
});

test('limits that a float would merge stay apart', () => {
  const change = { min_amount: 0.3, max_amount: 0.1 + 0.7 };
  expect(reasonsFor({ amount: '0.3' }, change)).toEqual([]);
  expect(reasonsFor({ amount: '0.29999999999999999' }, change)).toEqual(['amount_below_minimum']);
  // As written by the service: 0.7999999999999999.
  expect(reasonsFor({ amount: '0.7999999999999999' }, change)).toEqual([]);
  expect(reasonsFor({ amount: '0.8' }, change)).toEqual(['amount_above_maximum']);
});

test.each<string | number | bigint>([
  ...['', ' ', '1 000', '1'.repeat(2000)],
  ...'abc 1,000 0x1F4 ٥٠٠ NaN Infinity -500 0 0.00 -0'.split(' '),
  ...[-500, -500n, 0, Number.NaN, Number.POSITIVE_INFINITY, 1000.0000000000001],
])('the invalid amount %s is a reason for every provider and never throws', (amount) => {
  const { eligible, ineligible } = eligibleProviders([mtn, bank], { ...fits, amount });
  expect(eligible).toEqual([]);
  const codes = ineligible.map(({ reasons }) => reasons.map(({ code }) => code));
  expect(codes).toEqual([['amount_invalid'], ['amount_invalid']]);
});

test.each(['256772000001', '+256772000001', ' +256 772 000 001 ', '256-772-000-001', '2567 8'])(
  'the account %j, as a customer types it, matches',
  (account) => {
    expect(reasonsFor({ account })).toEqual([]);
  },
);

test.each([...'256752000001 0772000001 772000001 2567 ++25677 00256772000001 x25677 .25677'.split(' ')])(
  'the account %j has none of the prefixes',
  (account) => {
    expect(reasonsFor({ account })).toEqual(['account_prefix_differs']);
  },
);

test('prefixes are normalised like accounts', () => {
  expect(reasonsFor({ account: '256772000001' }, { option_prefixes: ['+256 77'] })).toEqual([]);
});

test.each(['', ' ', '+', ' - '])('the account %j is missing for every provider', (account) => {
  expect(reasonsFor({ account })).toEqual(['account_invalid']);
  expect(reasonsFor({ account }, { option_prefixes: [] })).toEqual(['account_invalid']);
});

const amounts = fc.bigInt({ min: 0n, max: 10n ** 20n });
const digits = fc.stringMatching(/^[0-9]{1,4}$/);
const limit = fc.integer({ min: 0, max: 10 ** 15 });
const provider: fc.Arbitrary<PaymentProvider> = fc
  .record({
    is_active: fc.boolean(),
    transaction_currency: fc.constantFrom('UGX', 'KES'),
    transaction_type: fc.constantFrom('Collection', 'PAYOUT', 'payout'),
    min_amount: limit,
    max_amount: limit,
    max_daily_amount: limit,
    option_prefixes: fc.array(digits, { maxLength: 3 }),
  })
  .map((drawn) => ({ ...mtn, ...drawn }));
const type = fc.constantFrom('COLLECTION', 'Payout');

test('every provider is on exactly one of the two lists, by the rules in whole numbers', () => {
  fc.assert(
    fc.property(fc.array(provider), amounts, digits, type, (all, amount, account, transaction_type) => {
      const payment = { account, amount: `${amount}`, currency: 'UGX', transaction_type };
      const { eligible, ineligible } = eligibleProviders(all, payment);
      const expected = all.filter(
        (one) =>
          one.is_active &&
          one.transaction_currency === 'UGX' &&
          one.transaction_type.toLowerCase() === transaction_type.toLowerCase() &&
          amount > 0n &&
          amount >= BigInt(one.min_amount) &&
          amount <= BigInt(one.max_amount) &&
          amount <= BigInt(one.max_daily_amount) &&
          (one.option_prefixes.length === 0 ||
            one.option_prefixes.some((prefix) => account.startsWith(prefix))),
      );
      expect(eligible).toEqual(expected);
      const others = all.filter((one) => !eligible.includes(one));
      expect(ineligible.map((one) => one.provider)).toEqual(others);
      expect(ineligible.every(({ reasons }) => reasons.length > 0)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('no customer input throws', () => {
  const typed = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
  fc.assert(
    fc.property(typed, typed, (amount, account) => {
      const { eligible, ineligible } = eligibleProviders([mtn, bank], { amount, account });
      return eligible.length + ineligible.length === 2;
    }),
  );
});

test('the amount spent today counts against the daily maximum, exactly and for its own provider', () => {
  const limited = { max_amount: 5000, max_daily_amount: 5000 };
  const spent = (amount: string | number | bigint, code = mtn.provider_code) =>
    reasonsFor({ amount: '500.5', spent_today: { [code]: amount } }, limited);
  expect(spent('4499.5')).toEqual([]);
  expect(spent('4499.51')).toEqual(['amount_above_daily_maximum']);
  expect(spent(5000n, 'another')).toEqual([]);
  expect(reasonsFor({ amount: 500, spent_today: {} }, limited)).toEqual([]);
  const refusal = expect.objectContaining({ option: 'spent_today' });
  for (const wrong of ['1,000', -1, Number.NaN, null]) expect(() => spent(wrong as never)).toThrow(refusal);
  for (const wrong of ['5', null]) expect(() => reasonsFor({ spent_today: wrong as never })).toThrow(refusal);
});
