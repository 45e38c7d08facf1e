import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConfigurationError } from '../src/errors.ts';
import {
  type Movement,
  type MovementKind,
  reconcile,
  sumOfProducts,
  type WalletBalance,
} from '../src/reconcile.ts';
import { exactWallet } from './client/wire-samples.ts';

const COLLECTION = 'MERCHANT_COLLECTION';
const PAYOUT = 'MERCHANT_PAYOUT';
const wallet = (actual_balance: string, wallet_type = COLLECTION, currency = 'UGX'): WalletBalance => ({
  ...{ currency, wallet_type, exact: { actual_balance } },
});
const settled = (amount: string, more: Partial<Movement> = {}): Movement => ({
  ...{ kind: 'settled', currency: 'UGX', amount, ...more },
});
const CERTAIN = { isCertain: true, charge: 0 } as const;

test('a wallet that gained what was settled is explained', () => {
  const range = { least: '500.5', most: '500.5' };
  const message =
    'The wallet MERCHANT_COLLECTION in UGX gained 500.5, and the movements explain 500.5: nothing is unexplained.';
  const figures = { expected: range, gained: '500.5', unexplained: '0', verdict: 'explained', message };
  expect(reconcile([wallet('100')], [wallet('600.5')], [settled('500.50', CERTAIN)])).toEqual({
    isExplained: true,
    wallets: [{ currency: 'UGX', wallet_type: COLLECTION, ...figures }],
  });
});

test.each([
  // Threat A56: the service has no such payment, since the callback was forged with a leaked key.
  ['as missing, if the wallet does not have it', '590', '490', '-895', 'less', '895 less than explained'],
  [
    'as more, as after a callback that was lost',
    '1990',
    '1890',
    '490',
    'more',
    'whose callback did not arrive',
  ],
])('money that no movement explains is reported %s', (_, after, gained, unexplained, verdict, says) => {
  const charged = settled('500', { isCertain: true, charge: { least: 0, most: 15 } });
  const found = reconcile([wallet('100')], [wallet(after)], [charged, settled('900', CERTAIN)]);
  const message = expect.stringContaining(says);
  const expected = { least: '1385', most: '1400' };
  expect(found).toMatchObject({
    isExplained: false,
    wallets: [{ expected, gained, unexplained, verdict, message }],
  });
});

test.each<[MovementKind, collection: [string, string], payout: [string, string]]>([
  ['settled', ['95', '99'], ['0', '0']],
  ['deposited', ['95', '99'], ['0', '0']],
  ['moved', ['-105', '-100'], ['95', '100']],
  ['withdrawn', ['-105', '-101'], ['0', '0']],
  ['paid_out', ['0', '0'], ['-105', '-101']],
])(
  'a movement %s with a charge from 1 to 5 changes the two wallets as the protocol shows',
  (kind, ...ranges) => {
    const movement = { ...settled('100'), kind, charge: { least: '1', most: '5' }, isCertain: true };
    const both = [wallet('0'), wallet('0', PAYOUT)];
    const { wallets } = reconcile(both, both, [movement]);
    expect(wallets.map(({ expected: { least, most } }) => [least, most])).toEqual(ranges);
  },
);

const ugx = [wallet('100')];
test.each<[WalletBalance[], WalletBalance[], Movement[]]>([
  [ugx, [], []],
  [[], ugx, []],
  [[], [], [settled('1', CERTAIN)]],
  // Whether an account can have several wallets of one currency and type is not shown.
  [ugx, [...ugx, ...ugx], []],
])('a wallet that one inquiry does not show is not treated as empty: row %#', (...inquiries) => {
  const missing = { verdict: 'wallet_missing', gained: undefined, unexplained: undefined };
  expect(reconcile(...inquiries)).toMatchObject({ isExplained: false, wallets: [missing] });
});

test('each currency and type of wallet is separate, including types that the protocol does not name', () => {
  const before = [wallet('1'), wallet('1', PAYOUT), wallet('1', COLLECTION, 'KES'), wallet('1', 'OTHER')];
  const after = [wallet('1'), wallet('1', PAYOUT), wallet('3', COLLECTION, 'KES'), wallet('4', 'OTHER')];
  const { wallets } = reconcile(before, after, [settled('2', { ...CERTAIN, currency: 'KES' })]);
  expect(wallets.map(({ currency, wallet_type, verdict }) => [currency, wallet_type, verdict])).toEqual([
    ['KES', COLLECTION, 'explained'],
    ['UGX', COLLECTION, 'explained'],
    ['UGX', PAYOUT, 'explained'],
    ['UGX', 'OTHER', 'more'],
  ]);
});

test.each<[option: string, ...wrong: object[]]>([
  ['movements[0].kind', { kind: 'collected' }],
  ['movements[0].currency', { currency: '' }],
  ['movements[0].amount', ...['1,000', -1, 0.1 + 0.2, '1e1001', null].map((amount) => ({ amount }))],
  ['movements[0].charge', { charge: null }, { charge: { least: 2, most: 1 } }],
  ['movements[0].charge.most', { charge: { least: 2 } }],
  ['movements[0].isCertain', { isCertain: 'yes' }],
  ['certain', { certain: true }],
])('a movement is refused by the name %s, and its values are not quoted: %j', (option, ...rows) => {
  for (const wrong of rows)
    expect(() => reconcile([], [], [{ ...settled('5'), ...wrong } as Movement])).toThrow(
      expect.objectContaining({ name: 'ConfigurationError', option }),
    );
});

test.each([
  ...[undefined, {}, [null], [wallet('1,000')], [{ ...wallet('1'), currency: undefined }]],
  [{ currency: 'UGX', wallet_type: COLLECTION, actual_balance: 5 }],
])('balances %j that are not those of the client are refused', (wrong) => {
  const given = wrong as never;
  for (const run of [
    () => reconcile(given, [], []),
    () => reconcile([], given, []),
    () => reconcile([], [], given),
  ])
    expect(run).toThrow(ConfigurationError);
});

test('the wallets of the client are accepted unchanged', () => {
  expect(reconcile([exactWallet], [exactWallet], []).isExplained).toBe(true);
});

const units = fc.bigInt({ min: 0n, max: 10n ** 30n });
/** An amount in units of 10^-12, as a decimal string, so that BigInt can check the sums. */
const text = (value: bigint): string => {
  const digits = String(value < 0n ? -value : value).padStart(13, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -12)}.${digits.slice(-12)}`;
};
const unitsOf = (decimal: string): bigint => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  return BigInt(sign + whole + fraction.padEnd(12, '0'));
};
const kinds = fc.constantFrom<MovementKind>('settled', 'deposited', 'moved', 'withdrawn', 'paid_out');
const movement = fc.record({
  kind: kinds,
  amount: units,
  least: units,
  more: units,
  isCertain: fc.boolean(),
});
type Generated = typeof movement extends fc.Arbitrary<infer T> ? T : never;
const movementOf = ({ kind, amount, least, more, isCertain }: Generated): Movement => ({
  ...{ kind, currency: 'UGX', amount: text(amount), isCertain },
  charge: { least: text(least), most: text(least + more) },
});
const both = (one: bigint, other = one): WalletBalance[] => [wallet(text(one)), wallet(text(other), PAYOUT)];
const intervals = (movements: Generated[]): [bigint, bigint][] =>
  reconcile(both(0n), both(0n), movements.map(movementOf)).wallets.map(({ expected }) => [
    unitsOf(expected.least),
    unitsOf(expected.most),
  ]);

test('the gain is explained for any charge within its range, and whether or not a movement counts', () => {
  const taken = fc.record({ movement, share: fc.integer({ min: 0, max: 100 }), counts: fc.boolean() });
  fc.assert(
    fc.property(fc.array(taken, { maxLength: 8 }), units, (all, start) => {
      let [collection, payout] = [start, start];
      for (const { movement: each, share, counts } of all) {
        if (!each.isCertain && !counts) continue;
        const charge = each.least + (each.more * BigInt(share)) / 100n;
        // Either wallet may have paid the charge of a movement between the two.
        const isPaidByPayout = each.kind === 'moved' && share % 2 === 1;
        if (each.kind === 'settled' || each.kind === 'deposited') collection += each.amount - charge;
        if (each.kind === 'withdrawn' || each.kind === 'moved')
          collection -= each.amount + (isPaidByPayout ? 0n : charge);
        if (each.kind === 'paid_out') payout -= each.amount + charge;
        if (each.kind === 'moved') payout += each.amount - (isPaidByPayout ? charge : 0n);
      }
      const movements = all.map(({ movement: each }) => movementOf(each));
      expect(reconcile(both(start), both(collection, payout), movements).isExplained).toBe(true);
    }),
  );
});

test('one unit beyond either end of the interval is unexplained, to the last digit', () => {
  fc.assert(
    fc.property(fc.array(movement, { maxLength: 6 }), units, (movements, start) => {
      const [[least = 0n, most = 0n] = []] = intervals(movements);
      const gain = (by: bigint) =>
        reconcile([wallet(text(start))], [wallet(text(start + by))], movements.map(movementOf)).wallets[0];
      for (const end of [least, most])
        expect(gain(end)).toMatchObject({ verdict: 'explained', unexplained: '0' });
      expect(gain(most + 1n)).toMatchObject({ verdict: 'more', unexplained: '0.000000000001' });
      expect(gain(least - 1n)).toMatchObject({ verdict: 'less', unexplained: '-0.000000000001' });
    }),
  );
});

test('sums of products are exact', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(units, fc.nat())), (pairs) => {
      const sum = pairs.reduce((total, [amount, count]) => total + amount * BigInt(count), 0n);
      expect(unitsOf(sumOfProducts(pairs.map(([amount, count]) => [text(amount), count])))).toBe(sum);
    }),
  );
  expect(sumOfProducts([['-0.5', '0.03']])).toBe('-0.015');
  expect(() => sumOfProducts([['1,000', 1]])).toThrow(ConfigurationError);
});
