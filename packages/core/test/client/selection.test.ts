import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PaymentProvider } from '../../src/client/client.ts';
import { type BankEligibility, eligibleBanks } from '../../src/client/selection/eligible-banks.ts';
import {
  eligibleProviders,
  type IneligibilityCode,
  type IntendedPayment,
} from '../../src/client/selection/eligible-providers.ts';
import { payoutBalance } from '../../src/client/selection/payout-balance.ts';
import { anyString } from '../anything.ts';
import { misconfigured } from '../verify.ts';
import { exactWallet, provider as mtn } from './wire-samples.ts';

// Which providers, banks and wallets a payment can use, and every reason against them.

const named = { provider_name: 'Example Bank', provider_code: 'example_bank' };
const bank: PaymentProvider = { ...mtn, ...named, transaction_method: 'BANK', option_prefixes: [] };
const fits: IntendedPayment = {
  ...{ account: '256772000001', amount: 500, currency: 'UGX', transaction_type: 'COLLECTION' },
};

function reasonsFor(payment: IntendedPayment, change: Partial<PaymentProvider> = {}): IneligibilityCode[] {
  const { eligible, ineligible } = eligibleProviders([{ ...mtn, ...change }], payment);
  expect(eligible.length + ineligible.length).toBe(1);
  return ineligible.flatMap(({ reasons }) => reasons.map(({ code }) => code));
}

test('fields of a payment that are left out are not checked', () => {
  for (const payment of [{}, fits]) {
    const { account } = payment as IntendedPayment;
    const eligible = [
      { provider: mtn, kind: 'phone', account },
      { provider: bank, kind: 'account', account },
    ];
    expect(eligibleProviders([mtn, bank], payment)).toEqual({ eligible, ineligible: [] });
  }
  expect(eligibleProviders([], fits)).toEqual({ eligible: [], ineligible: [] });
});

test('every reason is given in a fixed order with a message for the customer, which does not repeat the account', () => {
  const payment = { account: '254700123', amount: '499.99', currency: 'KES', transaction_type: 'PAYOUT' };
  const inactive = { ...mtn, is_active: false };
  const { eligible, ineligible } = eligibleProviders([inactive, bank], { ...payment });
  expect([eligible, ineligible.map(({ provider }) => provider)]).toEqual([[], [inactive, bank]]);
  expect(ineligible[0]?.reasons.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'inactive: Example Mobile Money is not available at the moment.',
    'currency_differs: Example Mobile Money accepts only UGX.',
    'transaction_type_differs: Example Mobile Money supports only Collection transactions.',
    'amount_below_minimum: Example Mobile Money accepts at least UGX\u00a0500 per transaction.',
    'account_prefix_differs: Example Mobile Money supports only accounts that start with 25677, 25678.',
  ]);
  expect(JSON.stringify(ineligible)).not.toContain('254700123');
});

// Limits that a float would merge. As written by the service, the upper one is 0.7999999999999999.
const close = { min_amount: 0.3, max_amount: 0.1 + 0.7 };
const ABOVE = 'amount_above_maximum';
const PREFIX = 'account_prefix_differs';
const TYPE = 'transaction_type_differs';
const prefixed = { option_prefixes: ['+256 77'] };
type Row = [reasons: IneligibilityCode[], payments: IntendedPayment[], change?: Partial<PaymentProvider>];
const amounts = (...all: (string | number | bigint)[]) => all.map((amount) => ({ amount }));
const accounts = (...all: string[]) => all.map((account) => ({ account }));
const types = (...all: string[]) => all.map((transaction_type) => ({ transaction_type }));
test.each<Row>([
  // Transaction types ignore letter case, and currencies do not.
  [[], types('COLLECTION', 'Collection', 'collection')],
  [[TYPE], types('PAYOUT', '', 'COLLECTION ')],
  [['currency_differs'], [{ currency: 'ugx' }]],
  // Amounts are compared exactly.
  [[], amounts(500, ' 500.00 ', 500n, '5000000.000')],
  [['amount_below_minimum'], amounts(499, '499.99999999999999999999')],
  [[ABOVE], amounts('5000000.00000000000000000001', '20000000')],
  [[ABOVE, 'amount_above_daily_maximum'], amounts('20000000.01', 10n ** 60n)],
  [[], amounts('0.3', '0.7999999999999999'), close],
  [['amount_below_minimum'], amounts('0.29999999999999999'), close],
  [[ABOVE], amounts('0.8'), close],
  // Invalid amounts are a reason for every provider.
  [['amount_invalid'], amounts('', ' ', '1 000', '1'.repeat(2000), -500, -500n, 0, 1000.0000000000001)],
  [['amount_invalid'], amounts(...'abc 1,000 0x1F4 ٥٠٠ NaN Infinity -500 0 0.00 -0'.split(' '))],
  [['amount_invalid'], amounts(Number.NaN, Number.POSITIVE_INFINITY)],
  // Accounts are matched with prefixes as customers type them, and prefixes are normalised like accounts.
  [[], accounts('256772000001', '+256772000001', ' +256 772 000 001 ', '256-772-000-001', '2567 8')],
  [[], accounts('256772000001'), prefixed],
  [[PREFIX], accounts(...'256752000001 0752000001 772000001 2567 00256752 +0256752 0'.split(' '))],
  [['account_invalid'], accounts(...'++25677 x25677 25677+1 256772000001x5 ٢٥٦٧٧٢ 25677½ 25677²'.split(' '))],
  [['account_invalid'], accounts('', ' ', '+', ' - ')],
  [['account_invalid'], accounts('', ' ', '+', ' - '), { option_prefixes: [] }],
  [[], [{}], { option_prefixes: [] }],
])('the reasons %j are given for each of the payments %o', (reasons, payments, change) => {
  for (const payment of payments) expect(reasonsFor(payment, change)).toEqual(reasons);
});

test('limits are written with grouped digits, and with every decimal that they have', () => {
  const limited = { ...mtn, max_amount: 0.000123, max_daily_amount: 20000000.5 };
  const { ineligible } = eligibleProviders([limited], { amount: 30000000 });
  expect(ineligible[0]?.reasons.map(({ message }) => message)).toEqual([
    'Example Mobile Money accepts at most UGX\u00a00.000123 per transaction.',
    'Example Mobile Money accepts at most UGX\u00a020,000,000.5 per day.',
  ]);
});

test('no customer input throws', () => {
  fc.assert(
    fc.property(anyString(), anyString(), (amount, account) => {
      const { eligible, ineligible } = eligibleProviders([mtn, bank], { amount, account });
      return eligible.length + ineligible.length === 2;
    }),
  );
});

test('the amount spent today counts against the daily maximum, exactly and for its own provider', () => {
  const limited = { max_amount: 5000, max_daily_amount: 5000 };
  const spent = (amount: unknown, code = mtn.provider_code) =>
    reasonsFor({ amount: '500.5', spent_today: { [code]: amount as string } }, limited);
  expect(spent('4499.5')).toEqual([]);
  expect(spent('4499.51')).toEqual(['amount_above_daily_maximum']);
  expect(spent(5000n, 'another')).toEqual([]);
  expect(reasonsFor({ amount: 500, spent_today: {} }, limited)).toEqual([]);
  for (const wrong of ['1,000', -1, Number.NaN, null])
    expect(() => spent(wrong)).toThrow(misconfigured('spent_today'));
  for (const wrong of ['5', null])
    expect(() => reasonsFor({ spent_today: wrong as never })).toThrow(misconfigured('spent_today'));
});

const open = { bank_code: 'EX001', bank_name: 'Example Bank', is_active: true };
const closed = { bank_code: 'EX002', bank_name: 'Other Bank', is_active: false };
const INACTIVE = 'Other Bank is not available at the moment.';
const inactive = { bank_code: 'EX002', bank: closed, code: 'inactive', message: INACTIVE } as const;
const NONE = 'This provider does not pay out to the selected bank.';
test.each<[selected: string | undefined, BankEligibility]>([
  [undefined, { eligible: [open], ineligible: [inactive] }],
  ['EX001', { eligible: [open], ineligible: [] }],
  ['EX002', { eligible: [], ineligible: [inactive] }],
  ...['EX003', 'ex001', ' EX001', '', '<script>'].map((bank_code): [string, BankEligibility] => [
    bank_code,
    { eligible: [], ineligible: [{ bank_code, bank: undefined, code: 'unknown', message: NONE }] },
  ]),
])('a bank is eligible if it is active, and selected by its exact code: %j', (bank_code, judged) => {
  const selection = bank_code === undefined ? undefined : { bank_code };
  expect(eligibleBanks([open, closed], selection)).toEqual(judged);
});

test('no bank is eligible among none, and a misspelled name is refused', () => {
  expect(eligibleBanks([])).toEqual({ eligible: [], ineligible: [] });
  expect(() => eligibleBanks([open], { bankCode: 'EX001' } as never)).toThrow(misconfigured('bankCode'));
});

const payout = (available_balance: string, currency = 'UGX') => ({
  ...{ ...exactWallet, currency, wallet_type: 'MERCHANT_PAYOUT' },
  exact: { ...exactWallet.exact, available_balance },
});
const LOW = { ok: false, code: 'balance_too_low' };
const MISSING = { ok: false, code: 'wallet_missing' };
test.each([
  [[payout('500')], '500', { ok: true }],
  [[payout('500')], '500.01', LOW],
  [[payout('9007199254740993')], '9007199254740992', { ok: true }],
  [[payout('9007199254740992')], '9007199254740993', LOW],
  [[payout('0')], '0.000001', LOW],
  [[payout('-5')], '1', LOW],
  // The collection wallet and other currencies do not count.
  [[], 1, MISSING],
  [[exactWallet], 1, MISSING],
  [[payout('900', 'KES')], 1, MISSING],
  // Each of several payout wallets of a currency must have enough, since it is not shown which one is used.
  [[payout('500'), payout('499')], 500, LOW],
  [[payout('500'), payout('900')], 500, { ok: true }],
])('payoutBalance() says whether the payout wallet has enough: row %#', (wallets, amount, judged) => {
  expect(payoutBalance(wallets, { currency: 'UGX', amount })).toMatchObject(judged);
});

test.each([0, -1, '1,000', Number.NaN, undefined])('the amount %s of a payout is refused', (amount) => {
  const call = () => payoutBalance([payout('900')], { currency: 'UGX', amount: amount as never });
  expect(call).toThrow(misconfigured('amount'));
});
