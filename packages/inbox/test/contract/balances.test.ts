import { ConfigurationError } from '@payment-service/core';
import type { WalletBalance } from '@payment-service/core/reconcile';
import { describe, expect, test } from 'vitest';
import type { BalanceOptions } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { DAY_MS, money, newShop, order } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const balance = (actual_balance: string, wallet_type = 'MERCHANT_COLLECTION'): WalletBalance => ({
  currency: 'UGX',
  wallet_type,
  exact: { actual_balance },
});
const ago = (days: number): Date => new Date(Date.now() - days * DAY_MS);
const WITHIN = { secondsBefore: 600, secondsAfter: 600 };
/** From three days ago until now, with every charge from nothing to 3 percent. */
const period = (more: Partial<BalanceOptions> = {}): BalanceOptions => ({
  from: ago(3),
  to: ago(0),
  creditedWithin: WITHIN,
  charges: { UGX: { least: '0', most: '0.03' } },
  ...more,
});

describe.each(ENGINES)('balances and totals on %s', (engine) => {
  test('totals() sums what was settled in a period exactly, by currency, type and comparison', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect(money('A', '0.1'));
    await inbox.receive(paid('A', 0.1));
    for (const reference of ['B', 'C']) await inbox.expect(money(reference, '0.2'));
    for (const reference of ['B', 'C']) await inbox.receive(paid(reference, 0.2));
    const long = '12345678901234567890.000001';
    await inbox.expect({ ...money('D', long), compare: 'request' });
    await inbox.receive(
      paid('D', 1, {}, { rewrite: (text) => text.replace('"request_amount":1', `"request_amount":${long}`) }),
    );
    await inbox.expect(money('never', '7'));
    await workOff(inbox);
    const common = { currency: 'UGX', transaction_type: 'COLLECTION' };
    expect(await inbox.totals({ from: ago(1), to: ago(-1) })).toEqual([
      { ...common, compare: 'both', count: 3, amount: '0.5' },
      { ...common, compare: 'request', count: 1, amount: long },
    ]);
    const all = await inbox.totals({ from: ago(1), to: ago(-1) });
    await merchant.advance(2 * DAY_MS);
    expect(await inbox.totals({ from: ago(1), to: ago(-1) })).toEqual([]);
    expect(await inbox.prune({ archiveOlderThanDays: 1 })).toMatchObject({ archived: 4 });
    expect(await inbox.totals({ from: ago(3), to: ago(1) })).toEqual(all);
    expect(await merchant.open({ account: 'other' }).totals({ from: ago(9), to: ago(-1) })).toEqual([]);
  });

  // Threat A56: the wallet is the service's own account of the money.
  test('reconcile() compares the nearest snapshots with what was settled between them', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.recordBalances([balance('100')]);
    await merchant.advance(DAY_MS);
    await order(inbox, 'A', 'B');
    await workOff(inbox);
    await merchant.advance(2 * DAY_MS);
    await inbox.recordBalances([balance('1085')]);
    const report = await inbox.reconcile(period());
    expect(report).toMatchObject({
      isExplained: true,
      movements: [{ kind: 'settled', amount: '1000', charge: { least: '0', most: '30' }, isCertain: true }],
      wallets: [{ expected: { least: '970', most: '1000' }, gained: '985', verdict: 'explained' }],
      uncounted: [],
    });
    expect(report.after.getTime() - report.before.getTime()).toBeGreaterThanOrEqual(3 * DAY_MS);
    expect(merchant.events.filter(({ name }) => name === 'balance.unexplained')).toEqual([]);
  });

  test('money that is missing from the wallet emits an event without an amount', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.recordBalances([balance('100')]);
    await merchant.advance(DAY_MS);
    await order(inbox, 'A', 'B');
    await workOff(inbox);
    await merchant.advance(2 * DAY_MS);
    await inbox.recordBalances([balance('600')]);
    expect(await inbox.reconcile(period())).toMatchObject({
      isExplained: false,
      wallets: [{ unexplained: '-470', verdict: 'less' }],
    });
    const walletType = 'MERCHANT_COLLECTION';
    expect(merchant.events.filter(({ name }) => name === 'balance.unexplained')).toEqual([
      { name: 'balance.unexplained', currency: 'UGX', walletType, verdict: 'less' },
    ]);
  });

  test('a payment that may have been credited on either side of a snapshot widens the interval', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.recordBalances([balance('0')]);
    await order(inbox, 'A');
    await workOff(inbox);
    await merchant.advance(3 * DAY_MS);
    await inbox.recordBalances([balance('0')]);
    expect((await inbox.reconcile(period())).wallets).toMatchObject([
      { expected: { least: '0', most: '500' } },
    ]);
    // Control: who knows that it is credited with its settlement gets a certain movement.
    const none = { secondsBefore: 0, secondsAfter: 0 };
    expect((await inbox.reconcile(period({ creditedWithin: none }))).wallets).toMatchObject([
      { expected: { least: '485', most: '500' }, verdict: 'less' },
    ]);
  });

  test('a type without a kind, and a comparison by the request only, are listed and not counted', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.recordBalances([balance('0'), balance('900', 'MERCHANT_PAYOUT')]);
    await merchant.advance(DAY_MS);
    await inbox.expect({ ...money('P'), transaction_type: 'PAYOUT' });
    await inbox.expect({ ...money('R'), compare: 'request' });
    await inbox.receive(paid('P', 500, { transaction_type: 'PAYOUT' }));
    await inbox.receive(paid('R', 500));
    await workOff(inbox);
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

  test('reconcile() without two snapshots, or with wrong options, names the option', async () => {
    const { inbox } = await newShop(engine);
    await expect(inbox.reconcile(period())).rejects.toMatchObject({ option: 'from' });
    await inbox.recordBalances([balance('0')]);
    await expect(inbox.reconcile(period())).rejects.toMatchObject({ option: 'from' });
    const wrong: [object, string][] = [
      [{ from: '2026-01-01' }, 'from'],
      [{ creditedWithin: undefined }, 'creditedWithin'],
      [{ creditedWithin: { secondsBefore: 1 } }, 'creditedWithin.secondsAfter'],
      [{ creditedWithin: { ...WITHIN, secondsBefore: -1 } }, 'creditedWithin.secondsBefore'],
      [{ movements: {} }, 'movements'],
      [{ charge: {} }, 'charge'],
      [{ charges: { UGX: { least: '0' } } }, 'charges'],
      [{ charges: { UGX: { least: '0', most: '3 %' } } }, 'charges'],
    ];
    for (const [options, option] of wrong)
      await expect(inbox.reconcile({ ...period(), ...options }), option).rejects.toMatchObject({ option });
    for (const wallets of [[], undefined, [{ currency: 'UGX' }], [balance('1,000')]]) {
      await expect(inbox.recordBalances(wallets as WalletBalance[])).rejects.toThrow(ConfigurationError);
    }
  });
});
