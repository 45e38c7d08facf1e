import type { Wallet } from '@payment-service/core/client';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSandbox, type Sandbox, SandboxRefusal } from '../src/index.ts';
import { call, collection, listOf } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';

const decimals: Record<string, number> = { UGX: 0, KES: 2, USD: 2 };

/** Independent of the code under test: the decimal digits of a JSON number, as an exact count of the smallest unit. */
function exact(value: unknown, currency: string): bigint {
  const [whole = '', fraction = ''] = String(value).split('.');
  const digits = decimals[currency] ?? 0;
  if (fraction.length > digits) throw new Error(`${value} ${currency} has drifted`);
  return BigInt(whole + fraction.padEnd(digits, '0'));
}

const sum = (list: readonly bigint[]): bigint => list.reduce((total, one) => total + one, 0n);

async function walletsOf(sandbox: Sandbox): Promise<Record<string, unknown>[]> {
  return listOf(await call(sandbox, 'GET', '/data/wallet-balances'), 'merchant_wallets');
}

const names = [
  'available_balance',
  'uncleared_balance',
  'reserve_balance',
] as const satisfies (keyof Wallet)[];

const accounts: Record<string, string> = {
  example_mobile_money: '256772000001',
  savanna_mobile_money: '254711000001',
};
const collections = fc.record({
  kind: fc.constant('collect' as const),
  provider: fc.constantFrom(
    ['example_mobile_money', 'UGX'],
    ['savanna_mobile_money', 'KES'],
    ['example_bank', 'UGX'],
    ['example_card_ugx', 'UGX'],
    ['example_card_usd', 'USD'],
  ),
  minor: fc.integer({ min: 100, max: 9_000_000 }),
  outcome: fc.constantFrom('completed' as const, 'failed' as const),
  charge_customer: fc.boolean(),
  mode: fc.constantFrom('direct' as const, 'pending' as const),
});
const payouts = fc.record({
  kind: fc.constant('payout' as const),
  provider: fc.constantFrom(
    ['example_mobile_money', 'UGX'],
    ['savanna_mobile_money', 'KES'],
    ['example_bank', 'UGX'],
  ),
  minor: fc.integer({ min: 100, max: 3_000_000 }),
  outcome: fc.constantFrom('completed' as const, 'failed' as const),
  mode: fc.constantFrom('direct' as const, 'pending' as const),
});
const transfers = fc.record({
  kind: fc.constant('transfer' as const),
  currency: fc.constantFrom('UGX', 'KES', 'USD'),
  minor: fc.integer({ min: 1, max: 4_000_000 }),
});
const decisions = fc.record({
  kind: fc.constant('decide' as const),
  which: fc.nat(50),
  outcome: fc.constantFrom('completed' as const, 'failed' as const),
});
const releases = fc.record({
  kind: fc.constant('clear' as const),
  buckets: fc.subarray(['uncleared', 'reserve']),
});
const deposits = fc.record({
  kind: fc.constant('deposit' as const),
  currency: fc.constantFrom('UGX', 'KES', 'USD'),
  minor: fc.integer({ min: 1, max: 4_000_000 }),
});
const waits = fc.record({
  kind: fc.constant('wait' as const),
  seconds: fc.integer({ min: 0, max: 8_000_000 }),
});
const operations = fc.array(
  fc.oneof(collections, collections, payouts, transfers, transfers, decisions, releases, waits, deposits),
  {
    maxLength: 40,
  },
);
type Operation = typeof operations extends fc.Arbitrary<(infer One)[]> ? One : never;

const amountOf = (minor: number, currency: string): number => Number(`${minor}e-${decimals[currency]}`);

async function run(sandbox: Sandbox, operation: Operation): Promise<void> {
  switch (operation.kind) {
    case 'collect': {
      const [code = '', currency = ''] = operation.provider;
      const { outcome, mode, charge_customer, minor } = operation;
      const amount = amountOf(minor, currency);
      const account = accounts[code] ?? 'ACCOUNT-1';
      const request = { ...collection, account, provider_code: code, currency, amount };
      sandbox.collect({ ...request, outcome, mode, charge_customer });
      return;
    }
    case 'payout': {
      const [code = '', currency = ''] = operation.provider;
      const { outcome, mode, minor } = operation;
      const bank_code = code === 'example_bank' ? 'EX001' : undefined;
      const account = accounts[code] ?? 'ACCOUNT-1';
      const request = { merchant_reference: 'PAY', account, provider_code: code, currency, bank_code };
      sandbox.payout({ ...request, amount: amountOf(minor, currency), outcome, mode });
      return;
    }
    case 'transfer':
      sandbox.transfer({
        currency: operation.currency,
        amount: amountOf(operation.minor, operation.currency),
      });
      return;
    case 'decide': {
      const list = listOf(await call(sandbox, 'GET', '/sandbox/transactions'), 'transactions');
      const one = list[operation.which % Math.max(list.length, 1)];
      sandbox.decide(Number(one?.['id'] ?? 0), operation.outcome);
      return;
    }
    case 'clear':
      await call(sandbox, 'POST', '/sandbox/clearing', { buckets: operation.buckets });
      return;
    case 'deposit':
      sandbox.deposit({
        currency: operation.currency,
        amount: amountOf(operation.minor, operation.currency),
      });
      return;
    case 'wait':
      sandbox.advance(operation.seconds);
  }
}

/** What the transactions say the wallets must hold altogether. */
async function expectedTotals(sandbox: Sandbox): Promise<Record<string, bigint>> {
  const totals: Record<string, bigint> = { UGX: 0n, KES: 0n, USD: 0n };
  for (const one of listOf(await call(sandbox, 'GET', '/sandbox/transactions'), 'transactions')) {
    const currency = String(one['transaction_currency']);
    const before = totals[currency] ?? 0n;
    if (one['transaction_type'] === 'COLLECTION') {
      if (one['transaction_status'] === 'COMPLETED')
        totals[currency] = before + exact(one['total_credit'], currency);
    } else if (one['transaction_status'] !== 'FAILED') {
      totals[currency] = before - exact(one['transaction_amount'], currency);
    }
  }
  for (const entry of await entriesOf(sandbox)) {
    const currency = String(entry['currency']);
    if (entry['cause'] === 'deposit')
      totals[currency] = (totals[currency] ?? 0n) + exact(entry['amount'], currency);
  }
  return totals;
}

const entriesOf = async (sandbox: Sandbox): Promise<Record<string, unknown>[]> =>
  listOf(await call(sandbox, 'GET', '/sandbox/entries?limit=1000'), 'entries');

/** What the entries of each balance add up to. */
function summed(entries: readonly Record<string, unknown>[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const { currency, wallet_type, bucket, amount } of entries) {
    const name = `${currency} ${wallet_type} ${bucket}_balance`;
    sums[name] = (sums[name] ?? 0n) + exact(amount, String(currency));
  }
  return sums;
}

test('wallet arithmetic holds after every operation of any sequence', async () => {
  const property = fc.asyncProperty(operations, async (sequence) => {
    const sandbox = createSandbox({ clock: createManualClock() });
    for (const operation of sequence) {
      const before = await walletsOf(sandbox);
      try {
        await run(sandbox, operation);
      } catch (error) {
        if (!(error instanceof SandboxRefusal)) throw error;
        expect(await walletsOf(sandbox)).toEqual(before);
      }
      const after = await walletsOf(sandbox);
      const totals: Record<string, bigint> = { UGX: 0n, KES: 0n, USD: 0n };
      const sums = summed(await entriesOf(sandbox));
      for (const wallet of after) {
        const currency = String(wallet['currency']);
        const parts = names.map((name) => exact(wallet[name], currency));
        const actual = exact(wallet['actual_balance'], currency);
        const added = names.map((name) => sums[`${currency} ${wallet['wallet_type']} ${name}`] ?? 0n);
        expect(added, 'each balance is the sum of its entries').toEqual(parts);
        expect(actual, 'actual = available + uncleared + reserve').toBe(sum(parts));
        expect(
          parts.every((part) => part >= 0n),
          'no overdraft',
        ).toBe(true);
        if (wallet['wallet_type'] === 'MERCHANT_PAYOUT') expect(parts.slice(1)).toEqual([0n, 0n]);
        totals[currency] = (totals[currency] ?? 0n) + actual;
      }
      expect(totals, 'only credits, deposits and payouts change the total').toEqual(
        await expectedTotals(sandbox),
      );
      if (['transfer', 'clear', 'wait'].includes(operation.kind)) {
        const total = (wallets: Record<string, unknown>[], code: string) =>
          sum(
            wallets
              .filter(({ currency }) => currency === code)
              .map((one) => exact(one['actual_balance'], code)),
          );
        for (const code of ['UGX', 'KES', 'USD']) expect(total(after, code)).toBe(total(before, code));
      }
    }
    // Everything that was ever held back comes free: no part of a balance is lost between its lots.
    await call(sandbox, 'POST', '/sandbox/clearing', { buckets: ['uncleared', 'reserve'] });
    for (const wallet of await walletsOf(sandbox)) {
      expect(wallet['available_balance']).toBe(wallet['actual_balance']);
    }
    await sandbox.close();
  });
  await fc.assert(property, { numRuns: 120 });
});

test('total_credit = transaction_amount - transaction_charge without charge_customer, and the whole amount with it', () => {
  const property = fc.property(
    fc.integer({ min: 1000, max: 15_000_000 }),
    fc.boolean(),
    (minor, charge_customer) => {
      const fresh = createSandbox();
      const amount = amountOf(minor, 'KES');
      const request = {
        ...collection,
        account: '254711000001',
        currency: 'KES',
        provider_code: 'savanna_mobile_money',
      };
      const { transaction } = fresh.collect({ ...request, amount, charge_customer });
      const [whole, charge, credit] = [
        exact(transaction.transaction_amount, 'KES'),
        exact(transaction.transaction_charge, 'KES'),
        exact(transaction.total_credit, 'KES'),
      ];
      expect(whole).toBe(BigInt(minor));
      expect(charge).toBe((BigInt(minor) * 300n + 5000n) / 10_000n);
      expect(credit).toBe(charge_customer ? whole : whole - charge);
    },
  );
  return fc.assert(property, { numRuns: 200 });
});
