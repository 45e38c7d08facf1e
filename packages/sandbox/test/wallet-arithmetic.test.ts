import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSandbox, type Sandbox, SandboxRefusal } from '../src/index.ts';
import { call, listOf } from './support/api.ts';
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
const names = ['available_balance', 'uncleared_balance', 'reserve_balance'];

const providers = [
  { provider_code: 'example_mobile_money', currency: 'UGX', account: '256772000001' },
  { provider_code: 'savanna_mobile_money', currency: 'KES', account: '254711000001' },
  { provider_code: 'example_bank', currency: 'UGX', account: 'ACCOUNT-1' },
  { provider_code: 'example_card_ugx', currency: 'UGX', account: 'ACCOUNT-1' },
  { provider_code: 'example_card_usd', currency: 'USD', account: 'ACCOUNT-1' },
];
const operation = fc.record({
  kind: fc.constantFrom('collect', 'collect', 'payout', 'transfer', 'transfer', 'deposit', 'decide', 'wait'),
  provider: fc.constantFrom(...providers),
  minor: fc.integer({ min: 1, max: 9_000_000 }),
  outcome: fc.constantFrom('completed' as const, 'failed' as const),
  mode: fc.constantFrom('direct' as const, 'pending' as const),
  charge_customer: fc.boolean(),
  currency: fc.constantFrom(...currencies),
});
type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never;

async function run(sandbox: Sandbox, given: Operation): Promise<void> {
  const { kind, provider, minor, outcome, mode, charge_customer, currency } = given;
  const bank_code = provider.provider_code === 'example_bank' ? 'EX001' : undefined;
  const started = { merchant_reference: 'ANY', ...provider, outcome, mode };
  const amount = amountOf(minor, provider.currency);
  const moved = { currency, amount: amountOf(minor, currency) };
  if (kind === 'collect') sandbox.collect({ ...started, amount, charge_customer });
  else if (kind === 'payout') sandbox.payout({ ...started, amount, bank_code });
  else if (kind === 'transfer' || kind === 'deposit') sandbox[kind](moved);
  else if (kind === 'decide') sandbox.decide(1001 + (minor % 20), outcome);
  else sandbox.advance(minor);
}

/** Checks what must be true of the wallets at every moment. Returns their total, whatever the currency. */
async function checkedTotals(sandbox: Sandbox): Promise<Totals> {
  const sums: Totals = {};
  for (const { currency, wallet_type, bucket, amount } of await listed(
    sandbox,
    '/sandbox/entries?limit=1000',
  ))
    add(sums, `${currency} ${wallet_type} ${bucket}_balance`, exact(amount, currency));
  const totals: Totals = {};
  for (const wallet of await walletsOf(sandbox)) {
    const { currency, wallet_type } = wallet;
    const parts = names.map((name) => exact(wallet[name], currency));
    const added = names.map((name) => sums[`${currency} ${wallet_type} ${name}`] ?? 0n);
    expect(added, 'each balance is the sum of its entries').toEqual(parts);
    expect(
      parts.every((part) => part >= 0n),
      'no overdraft',
    ).toBe(true);
    const actual = parts.reduce((sum, one) => sum + one, 0n);
    expect(exact(wallet['actual_balance'], currency), 'actual = available + uncleared + reserve').toBe(
      actual,
    );
    add(totals, currency, actual);
  }
  return totals;
}

test('wallet arithmetic holds after every operation of any sequence', async () => {
  const property = fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (sequence) => {
    const sandbox = createSandbox({ clock: createManualClock() });
    let totals = await checkedTotals(sandbox);
    for (const one of sequence) {
      try {
        await run(sandbox, one);
      } catch (error) {
        if (!(error instanceof SandboxRefusal)) throw error;
      }
      const after = await checkedTotals(sandbox);
      if (['transfer', 'wait'].includes(one.kind)) expect(after).toEqual(totals);
      totals = after;
    }
    await sandbox.close();
  });
  await fc.assert(property, { numRuns: 20 });
});
