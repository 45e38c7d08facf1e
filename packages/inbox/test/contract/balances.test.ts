import type { WalletBalance } from '@payment-service/core/reconcile';
import { describe, expect, test } from 'vitest';
import type { BalanceOptions } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { DAY_MS, money, newShop } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const balance = (actual_balance: string, wallet_type = 'MERCHANT_COLLECTION'): WalletBalance => ({
  currency: 'UGX',
  wallet_type,
  exact: { actual_balance },
});
const ago = (days: number): Date => new Date(Date.now() - days * DAY_MS);
const WITHIN = { secondsBefore: 600, secondsAfter: 600 };
/** From three days ago until now, with every charge from 0 to 3 percent. */
const period = (more: Partial<BalanceOptions> = {}): BalanceOptions => ({
  from: ago(3),
  to: ago(0),
  creditedWithin: WITHIN,
  charges: { UGX: { least: '0', most: '0.03' } },
  ...more,
});

describe.each(ENGINES)('balances and totals on %s', (engine) => {
  test('totals() sums what was settled in a period exactly, by currency, type and comparison', async () => {
    const { merchant, inbox, deliver } = await newShop(engine);
    const long = '12345678901234567890.000001';
    // A failure is money neither before it is archived nor after.
    inbox.handle('failed', () => undefined);
    await deliver(paid('F', 1, { transaction_status: 'FAILED' }));
    for (const [reference, amount] of Object.entries({ A: 0.1, B: 0.2, C: 0.2 })) {
      await inbox.expect(money(reference, amount));
      await inbox.route.onCallback(paid(reference, amount));
    }
    await inbox.expect({ ...money('D', long), compare: 'request' });
    const rewrite = (text: string): string => text.replace('"request_amount":1', `"request_amount":${long}`);
    await inbox.route.onCallback(paid('D', 1, {}, { rewrite }));
    await inbox.expect(money('never', '7'));
    await workOff(inbox);
    const common = { currency: 'UGX', transaction_type: 'COLLECTION' };
    const all = await inbox.totals({ from: ago(1), to: ago(-1) });
    expect(all).toEqual([
      { ...common, compare: 'both', count: 3, amount: '0.5' },
      { ...common, compare: 'request', count: 1, amount: long },
    ]);
    // A period ends before its last millisecond.
    const last = (await inbox.payment('D'))?.settled?.at ?? new Date(0);
    const others = await inbox.totals({ from: ago(1), to: last });
    expect(others.map(({ compare }) => compare)).not.toContain('request');
    await merchant.advance(2 * DAY_MS);
    expect(await inbox.totals({ from: ago(1), to: ago(-1) })).toEqual([]);
    expect(await inbox.prune({ archiveOlderThanDays: 1 })).toMatchObject({ archived: 5 });
    expect(await inbox.totals({ from: ago(3), to: ago(1) })).toEqual(all);
    expect(await merchant.open({ account: 'other' }).totals({ from: ago(9), to: ago(-1) })).toEqual([]);
  });

  // Threat A56: the wallet is the service's own record of the money.
  test.each([
    ['compares the nearest snapshots with what was settled between them', '1085', 'explained'],
    ['emits an event without an amount where money is missing from the wallet', '600', 'less'],
  ] as const)('reconcile() %s', async (_, later, verdict) => {
    const { merchant, inbox, sell } = await newShop(engine);
    await inbox.recordBalances([balance('100')]);
    await expect(inbox.reconcile(period())).rejects.toMatchObject({ code: 'not_found' });
    await merchant.advance(DAY_MS);
    await sell('A', 'B');
    await merchant.advance(2 * DAY_MS);
    await inbox.recordBalances([balance(later)]);
    const report = await inbox.reconcile(period());
    const isExplained = verdict === 'explained';
    const gained = isExplained ? { gained: '985' } : { unexplained: '-470' };
    expect(report).toMatchObject({
      isExplained,
      movements: [{ kind: 'settled', amount: '1000', charge: { least: '0', most: '30' }, isCertain: true }],
      wallets: [{ expected: { least: '970', most: '1000' }, ...gained, verdict }],
      uncounted: [],
    });
    expect(report.after.getTime() - report.before.getTime()).toBeGreaterThanOrEqual(3 * DAY_MS);
    const event = { currency: 'UGX', walletType: 'MERCHANT_COLLECTION', verdict };
    const told = merchant.events.filter(({ name }) => name === 'balance.unexplained');
    expect(told).toEqual(isExplained ? [] : [{ name: 'balance.unexplained', ...event }]);
  });

  test('a payment is certain or not, credited at its settlement, before it, after it or on both sides of it', async () => {
    const { merchant, inbox, deliver } = await newShop(engine);
    const wait = (seconds: number) => merchant.advance(seconds * 1000);
    const sell = async (amount: number): Promise<void> => {
      await inbox.expect(money(`R${amount}`, amount));
      await deliver(paid(`R${amount}`, amount));
    };
    await sell(1);
    await wait(100);
    await inbox.recordBalances([balance('0')]);
    await wait(100);
    await sell(10);
    await wait(800);
    await sell(100);
    await wait(100);
    await inbox.recordBalances([balance('0')]);
    await wait(100);
    await sell(1000);
    const [from, to] = [1100, 100].map((seconds) => new Date(Date.now() - seconds * 1000)) as [Date, Date];
    for (const [secondsBefore, secondsAfter, wanted] of [
      [0, 0, ['110 true']],
      [200, 0, ['100 true', '1010 false']],
      [0, 200, ['10 true', '101 false']],
      [200, 200, ['1111 false']],
    ] as const) {
      const given = { from, to, creditedWithin: { secondsBefore, secondsAfter } };
      const { movements, before, after } = await inbox.reconcile(given);
      expect(movements.map(({ amount, isCertain }) => `${amount} ${isCertain}`)).toEqual(wanted);
      expect(movements.map(({ charge }) => charge)).toEqual(wanted.map(() => undefined));
      expect(Math.abs(after.getTime() - before.getTime() - 1_000_000)).toBeLessThan(60_000);
    }
  });

  test('a type without a kind, and a comparison by the request only, are listed and not counted', async () => {
    const { merchant, inbox, deliver } = await newShop(engine);
    await inbox.recordBalances([balance('0'), balance('900', 'MERCHANT_PAYOUT')]);
    await merchant.advance(DAY_MS);
    await inbox.expect({ ...money('P'), transaction_type: 'PAYOUT' });
    await inbox.expect({ ...money('R'), compare: 'request' });
    await deliver(paid('P', 500, { transaction_type: 'PAYOUT' }), paid('R', 500));
    await merchant.advance(2 * DAY_MS);
    await inbox.recordBalances([balance('0'), balance('400', 'MERCHANT_PAYOUT')]);
    const report = await inbox.reconcile(period());
    expect(report.uncounted).toMatchObject([
      { transaction_type: 'COLLECTION', compare: 'request', amount: '500' },
      { transaction_type: 'PAYOUT', compare: 'both', amount: '500' },
    ]);
    expect(report.isExplained).toBe(false);
    const kinds = { COLLECTION: 'settled', PAYOUT: 'paid_out' } as const;
    expect((await inbox.reconcile(period({ kinds }))).isExplained).toBe(true);
  });
});
