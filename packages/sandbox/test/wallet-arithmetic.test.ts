import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSandbox, type Sandbox, SandboxRefusal } from '../src/index.ts';
import { call, collection, listOf } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';

const decimals: Record<string, number> = { UGX: 0, KES: 2, USD: 2 };
const currencies = Object.keys(decimals);
type Row = Record<string, unknown>;
type Totals = Record<string, bigint>;

/** Independent of the code under test: the decimal digits of a JSON number, as an exact count of the smallest unit. */
function exact(value: unknown, currency: unknown): bigint {
  const [whole = '', fraction = ''] = String(value).split('.');
  const digits = decimals[String(currency)] ?? 0;
  if (fraction.length > digits) throw new Error(`${value} ${currency} has drifted`);
  return BigInt(whole + fraction.padEnd(digits, '0'));
}

const amountOf = (minor: number, currency: string): number => Number(`${minor}e-${decimals[currency]}`);

function add(totals: Totals, name: unknown, amount: bigint): void {
  totals[String(name)] = (totals[String(name)] ?? 0n) + amount;
}

const listed = async (sandbox: Sandbox, path: string): Promise<Row[]> =>
  listOf(await call(sandbox, 'GET', path));
const walletsOf = (sandbox: Sandbox) => listed(sandbox, '/data/wallet-balances');
const entriesOf = (sandbox: Sandbox) => listed(sandbox, '/sandbox/entries?limit=1000');
const names = ['available_balance', 'uncleared_balance', 'reserve_balance'];

const providers = [
  { provider_code: 'example_mobile_money', currency: 'UGX', account: '256772000001' },
  { provider_code: 'savanna_mobile_money', currency: 'KES', account: '254711000001' },
  { provider_code: 'example_bank', currency: 'UGX', account: 'ACCOUNT-1' },
  { provider_code: 'example_card_ugx', currency: 'UGX', account: 'ACCOUNT-1' },
  { provider_code: 'example_card_usd', currency: 'USD', account: 'ACCOUNT-1' },
];
const outcome = fc.constantFrom('completed' as const, 'failed' as const);
const mode = fc.constantFrom('direct' as const, 'pending' as const);
const minor = fc.integer({ min: 1, max: 9_000_000 });
const movement = { currency: fc.constantFrom(...currencies), minor };
const kind = <const Name extends string>(name: Name) => ({ kind: fc.constant(name) });
const collections = fc.record({
  ...kind('collect'),
  ...{ provider: fc.constantFrom(...providers), minor, outcome, mode, charge_customer: fc.boolean() },
});
const transfers = fc.record({ ...kind('transfer'), ...movement });
const operation = fc.oneof(
  collections,
  collections,
  fc.record({ ...kind('payout'), provider: fc.constantFrom(...providers.slice(0, 3)), minor, outcome, mode }),
  transfers,
  transfers,
  fc.record({ ...kind('deposit'), ...movement }),
  fc.record({ ...kind('decide'), which: fc.nat(50), outcome }),
  fc.record({ ...kind('clear'), buckets: fc.subarray(['uncleared', 'reserve']) }),
  fc.record({ ...kind('wait'), seconds: fc.nat(8_000_000) }),
);
type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never;

async function run(sandbox: Sandbox, given: Operation): Promise<void> {
  switch (given.kind) {
    case 'collect': {
      const { kind: _, provider, minor, ...rest } = given;
      sandbox.collect({ ...collection, ...provider, ...rest, amount: amountOf(minor, provider.currency) });
      return;
    }
    case 'payout': {
      const { kind: _, provider, minor, ...rest } = given;
      const bank_code = provider.provider_code === 'example_bank' ? 'EX001' : undefined;
      const request = { merchant_reference: 'PAY', ...provider, bank_code, ...rest };
      sandbox.payout({ ...request, amount: amountOf(minor, provider.currency) });
      return;
    }
    case 'transfer':
    case 'deposit': {
      const { currency } = given;
      sandbox[given.kind]({ currency, amount: amountOf(given.minor, currency) });
      return;
    }
    case 'decide': {
      const list = await listed(sandbox, '/sandbox/transactions');
      const one = list[given.which % Math.max(list.length, 1)];
      sandbox.decide(Number(one?.['id'] ?? 0), given.outcome);
      return;
    }
    case 'clear':
      await call(sandbox, 'POST', '/sandbox/clearing', { buckets: given.buckets });
      return;
    case 'wait':
      sandbox.advance(given.seconds);
  }
}

/** The total of the wallets according to the transactions and the deposits. */
async function expectedTotals(sandbox: Sandbox, entries: readonly Row[]): Promise<Totals> {
  const totals: Totals = { UGX: 0n, KES: 0n, USD: 0n };
  for (const one of await listed(sandbox, '/sandbox/transactions')) {
    const { transaction_currency: currency, transaction_status: status } = one;
    if (one['transaction_type'] === 'PAYOUT') {
      if (status !== 'FAILED') add(totals, currency, -exact(one['transaction_amount'], currency));
    } else if (status === 'COMPLETED') add(totals, currency, exact(one['total_credit'], currency));
  }
  for (const { currency, cause, amount } of entries)
    if (cause === 'deposit') add(totals, currency, exact(amount, currency));
  return totals;
}

/** Checks what must be true of the wallets at every moment. Returns the total of each currency. */
async function checkedTotals(sandbox: Sandbox): Promise<Totals> {
  const entries = await entriesOf(sandbox);
  const sums: Totals = {};
  for (const { currency, wallet_type, bucket, amount } of entries)
    add(sums, `${currency} ${wallet_type} ${bucket}_balance`, exact(amount, currency));
  const totals: Totals = { UGX: 0n, KES: 0n, USD: 0n };
  for (const wallet of await walletsOf(sandbox)) {
    const { currency, wallet_type } = wallet;
    const parts = names.map((name) => exact(wallet[name], currency));
    const actual = exact(wallet['actual_balance'], currency);
    const added = names.map((name) => sums[`${currency} ${wallet_type} ${name}`] ?? 0n);
    expect(added, 'each balance is the sum of its entries').toEqual(parts);
    expect(actual, 'actual = available + uncleared + reserve').toBe(
      parts.reduce((sum, one) => sum + one, 0n),
    );
    expect(
      parts.filter((part) => part < 0n),
      'no overdraft',
    ).toEqual([]);
    if (wallet_type === 'MERCHANT_PAYOUT') expect(parts.slice(1)).toEqual([0n, 0n]);
    add(totals, currency, actual);
  }
  const expected = await expectedTotals(sandbox, entries);
  expect(totals, 'only credits, deposits and payouts change the total').toEqual(expected);
  return totals;
}

test('wallet arithmetic holds after every operation of any sequence', async () => {
  const property = fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (sequence) => {
    const sandbox = createSandbox({ clock: createManualClock() });
    let totals = await checkedTotals(sandbox);
    for (const one of sequence) {
      const before = await walletsOf(sandbox);
      try {
        await run(sandbox, one);
      } catch (error) {
        if (!(error instanceof SandboxRefusal)) throw error;
        expect(await walletsOf(sandbox)).toEqual(before);
      }
      const after = await checkedTotals(sandbox);
      if (['transfer', 'clear', 'wait'].includes(one.kind)) expect(after).toEqual(totals);
      totals = after;
    }
    // Everything that was ever held back is released: no part of a balance is lost between its lots.
    await call(sandbox, 'POST', '/sandbox/clearing', { buckets: ['uncleared', 'reserve'] });
    for (const wallet of await walletsOf(sandbox)) {
      expect(wallet['available_balance']).toBe(wallet['actual_balance']);
    }
    await sandbox.close();
  });
  await fc.assert(property, { numRuns: 30 });
});

test('total_credit = transaction_amount - transaction_charge without charge_customer, and the whole amount with it', () => {
  const sandbox = createSandbox({ clock: createManualClock() });
  const property = fc.property(fc.integer({ min: 1000, max: 15_000_000 }), fc.boolean(), (minor, isOnTop) => {
    // Each collection is on a different day, so none reaches the daily limit.
    sandbox.advance(86_400);
    const request = { ...collection, ...providers[1], amount: amountOf(minor, 'KES') };
    const { transaction } = sandbox.collect({ ...request, charge_customer: isOnTop });
    const { transaction_amount, transaction_charge, total_credit } = transaction;
    const charge = (BigInt(minor) * 300n + 5000n) / 10_000n;
    expect(exact(transaction_amount, 'KES')).toBe(BigInt(minor));
    expect(exact(transaction_charge, 'KES')).toBe(charge);
    expect(exact(total_credit, 'KES')).toBe(BigInt(minor) - (isOnTop ? 0n : charge));
  });
  return fc.assert(property, { numRuns: 100 });
});
