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
  currency,
  wallet_type,
  exact: { actual_balance },
});
const settled = (amount: string, more: Partial<Movement> = {}): Movement => ({
  kind: 'settled',
  currency: 'UGX',
  amount,
  ...more,
});
const CERTAIN = { isCertain: true, charge: 0 } as const;

test('a wallet that gained what was settled is explained', () => {
  const movements = [settled('500.50', CERTAIN)];
  const { isExplained, wallets } = reconcile([wallet('100')], [wallet('600.5')], movements);
  expect(isExplained).toBe(true);
  expect(wallets).toEqual([
    {
      currency: 'UGX',
      wallet_type: COLLECTION,
      expected: { least: '500.5', most: '500.5' },
      gained: '500.5',
      unexplained: '0',
      verdict: 'explained',
      message:
        'The wallet MERCHANT_COLLECTION in UGX gained 500.5, and the movements explain 500.5: nothing is unexplained.',
    },
  ]);
});

// Threat A56: the service has no such payment, since the callback was forged with a leaked key.
test('money that was settled here and that the wallet does not have is reported as missing', () => {
  const charged = settled('500', { isCertain: true, charge: { least: 0, most: 15 } });
  const movements = [charged, settled('900', CERTAIN)];
  const { isExplained, wallets } = reconcile([wallet('100')], [wallet('590')], movements);
  expect(isExplained).toBe(false);
  expect(wallets).toMatchObject([
    { expected: { least: '1385', most: '1400' }, gained: '490', unexplained: '-895', verdict: 'less' },
  ]);
  expect(wallets[0]?.message).toContain('895 less than explained');
});

test('money that no movement explains is reported as more, as after a callback that was lost', () => {
  const { wallets } = reconcile([wallet('100')], [wallet('800')], [settled('500', CERTAIN)]);
  expect(wallets).toMatchObject([{ gained: '700', unexplained: '200', verdict: 'more' }]);
  expect(wallets[0]?.message).toContain('Probably a payment whose callback did not arrive');
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

test('what is not shown widens the interval: an unknown charge, and a movement that may not be in the balance', () => {
  const both = [wallet('0')];
  const rangeOf = (movement: Movement) => reconcile(both, both, [movement]).wallets[0]?.expected;
  expect(rangeOf(settled('100', { isCertain: true }))).toEqual({ least: '0', most: '100' });
  expect(rangeOf(settled('100', { charge: '3' }))).toEqual({ least: '0', most: '97' });
  const withdrawn = { ...settled('100', { charge: '3' }), kind: 'withdrawn' } as const;
  expect(rangeOf(withdrawn)).toEqual({ least: '-103', most: '0' });
  expect(rangeOf(settled('100'))).toEqual({ least: '0', most: '100' });
});

test('a wallet that one inquiry does not show is not treated as empty', () => {
  const ugx = [wallet('100')];
  const cases: [WalletBalance[], WalletBalance[], Movement[]][] = [
    [ugx, [], []],
    [[], ugx, []],
    [[], [], [settled('1', CERTAIN)]],
    // Whether an account can have several wallets of one currency and type is not shown.
    [ugx, [...ugx, ...ugx], []],
  ];
  for (const [before, after, movements] of cases) {
    const missing = { verdict: 'wallet_missing', gained: undefined, unexplained: undefined };
    expect(reconcile(before, after, movements)).toMatchObject({ isExplained: false, wallets: [missing] });
  }
  const twice = reconcile([...ugx, ...ugx], [...ugx, wallet('105')], [settled('5', CERTAIN)]);
  expect(twice.isExplained).toBe(true);
  expect(reconcile([], [], [])).toEqual({ isExplained: true, wallets: [] });
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

test.each([
  [{ kind: 'collected' }, 'movements[0].kind'],
  [{ currency: '' }, 'movements[0].currency'],
  [{ amount: '1,000' }, 'movements[0].amount'],
  [{ amount: -1 }, 'movements[0].amount'],
  [{ amount: 0.1 + 0.2 }, 'movements[0].amount'],
  [{ amount: '1e1001' }, 'movements[0].amount'],
  [{ amount: null }, 'movements[0].amount'],
  [{ charge: null }, 'movements[0].charge'],
  [{ charge: { least: 2, most: 1 } }, 'movements[0].charge'],
  [{ charge: { least: 2 } }, 'movements[0].charge.most'],
  [{ isCertain: 'yes' }, 'movements[0].isCertain'],
  [{ certain: true }, 'certain'],
])('the movement %j is refused by name, and its values are not quoted', (wrong, option) => {
  const call = () => reconcile([], [], [{ ...settled('5'), ...wrong } as Movement]);
  expect(call).toThrow(expect.objectContaining({ name: 'ConfigurationError', option }));
});

test.each([
  undefined,
  {},
  [null],
  [{ currency: 'UGX', wallet_type: COLLECTION, actual_balance: 5 }],
  [wallet('1,000')],
  [{ ...wallet('1'), currency: undefined }],
])('balances %j that are not those of the client are refused', (wrong) => {
  const wallets = wrong as WalletBalance[];
  expect(() => reconcile(wallets, [], [])).toThrow(ConfigurationError);
  expect(() => reconcile([], wallets, [])).toThrow(ConfigurationError);
  expect(() => reconcile([], [], wrong as never)).toThrow(ConfigurationError);
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
const amounts = { amount: units, least: units, more: units };
const movement = fc.record({ kind: kinds, ...amounts, isCertain: fc.boolean() });
const movementOf = ({ kind, amount, least, more, isCertain }: Generated): Movement => ({
  ...{ kind, currency: 'UGX', amount: text(amount), isCertain },
  charge: { least: text(least), most: text(least + more) },
});
type Generated = typeof movement extends fc.Arbitrary<infer T> ? T : never;
const both = (value: bigint): WalletBalance[] => [wallet(text(value)), wallet(text(value), PAYOUT)];
const intervals = (movements: Generated[]) =>
  reconcile(both(0n), both(0n), movements.map(movementOf)).wallets.map(({ expected }) => [
    unitsOf(expected.least),
    unitsOf(expected.most),
  ]);

test('the gain is explained for any charge within its range, and whether or not a movement counts', () => {
  const taken = fc.record({ movement, share: fc.integer({ min: 0, max: 100 }), counts: fc.boolean() });
  fc.assert(
    fc.property(fc.array(taken, { maxLength: 8 }), units, (all, start) => {
      const gains = { [COLLECTION]: 0n, [PAYOUT]: 0n };
      for (const { movement: each, share, counts } of all) {
        if (!each.isCertain && !counts) continue;
        const charge = each.least + (each.more * BigInt(share)) / 100n;
        if (each.kind === 'settled' || each.kind === 'deposited') gains[COLLECTION] += each.amount - charge;
        if (each.kind === 'withdrawn') gains[COLLECTION] -= each.amount + charge;
        if (each.kind === 'paid_out') gains[PAYOUT] -= each.amount + charge;
        if (each.kind !== 'moved') continue;
        // Either wallet may have paid the charge.
        const fromCollection = share % 2 === 0;
        gains[COLLECTION] -= each.amount + (fromCollection ? charge : 0n);
        gains[PAYOUT] += each.amount - (fromCollection ? 0n : charge);
      }
      const after = [wallet(text(start + gains[COLLECTION])), wallet(text(start + gains[PAYOUT]), PAYOUT)];
      const movements = all.map(({ movement: each }) => movementOf(each));
      expect(reconcile(both(start), after, movements).isExplained).toBe(true);
    }),
  );
});

test('one unit beyond either end of the interval is unexplained, to the last digit', () => {
  fc.assert(
    fc.property(fc.array(movement, { maxLength: 6 }), units, (movements, start) => {
      const [[least = 0n, most = 0n] = []] = intervals(movements);
      const gain = (by: bigint) =>
        reconcile([wallet(text(start))], [wallet(text(start + by))], movements.map(movementOf)).wallets[0];
      expect(gain(most)).toMatchObject({ verdict: 'explained', unexplained: '0' });
      expect(gain(least)).toMatchObject({ verdict: 'explained', unexplained: '0' });
      expect(gain(most + 1n)).toMatchObject({ verdict: 'more', unexplained: '0.000000000001' });
      expect(gain(least - 1n)).toMatchObject({ verdict: 'less', unexplained: '-0.000000000001' });
    }),
  );
});

test('two periods together are the sum of each, and the order of movements is irrelevant', () => {
  fc.assert(
    fc.property(fc.array(movement), fc.array(movement), (first, second) => {
      const [one, other] = [intervals(first), intervals(second)];
      const sum = both(0n).map((_, index) =>
        [0, 1].map((end) => (one[index]?.[end] ?? 0n) + (other[index]?.[end] ?? 0n)),
      );
      expect(intervals([...first, ...second])).toEqual(sum);
      expect(intervals([...second, ...first])).toEqual(sum);
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

test('as many movements as a busy month has are added up', () => {
  const movements = Array.from({ length: 200_000 }, () => settled('0.1', CERTAIN));
  expect(reconcile([wallet('0')], [wallet('20000')], movements).isExplained).toBe(true);
});
