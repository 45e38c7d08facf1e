import { ConfigurationError } from '@payment-service/core';
import { expect, test } from 'vitest';
import type { Handled } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, newMerchant } from '../support/merchant.ts';
import { actOnReport, LATER, money, newShop } from '../support/shop.ts';
import { startWork, workOff } from '../support/until.ts';

test('a handler is told what a status means, and one of its type comes before one of every type', async () => {
  const inbox = (await newMerchant('sqlite')).open();
  const told: string[] = [];
  for (const [name, type] of [
    ['paid', undefined],
    ['paid', 'PAYOUT'],
    ['failed', undefined],
    ['status', undefined],
    ['status', 'REFUND'],
  ] as const) {
    const handler = ({ signed, payment }: Handled<AnyTransaction>): void => {
      const { transaction_type, transaction_status } = signed;
      const money = payment.settled === undefined ? '' : ` ${payment.settled.amount}`;
      told.push(`${transaction_type} ${transaction_status}: ${name} of ${type ?? 'every type'}${money}`);
    };
    inbox.handle(name, handler, { type });
  }
  for (const transaction_type of ['COLLECTION', 'PAYOUT', 'REFUND']) {
    for (const status of ['COMPLETED', 'FAILED', 'PENDING', 'OTHER']) {
      const reference = `${transaction_type}-${status}`;
      await inbox.expect({ ...money(reference), transaction_type });
      const event = status === 'COMPLETED' ? 'transaction.completed' : 'transaction.other';
      const payload = { transaction_type, transaction_status: status };
      await inbox.route.onCallback(paid(reference, 500, payload, { event }));
    }
  }
  await workOff(inbox);
  expect(told.sort()).toEqual([
    'COLLECTION COMPLETED: paid of every type 500',
    'COLLECTION FAILED: failed of every type',
    'COLLECTION OTHER: status of every type',
    'COLLECTION PENDING: status of every type',
    'PAYOUT COMPLETED: paid of PAYOUT 500',
    'PAYOUT FAILED: failed of every type',
    'PAYOUT OTHER: status of every type',
    'PAYOUT PENDING: status of every type',
    'REFUND COMPLETED: paid of every type 500',
    'REFUND FAILED: failed of every type',
    'REFUND OTHER: status of REFUND',
    'REFUND PENDING: status of REFUND',
  ]);
});

test.each(ENGINES)(
  'on %s, a reversal gets the own amount that was settled, if there is one, and needs a handler; a failure needs none',
  async (engine) => {
    const { inbox, merchant, sell, deliver } = await newShop(engine, LATER);
    const reversal = (reference: string) =>
      paid(reference, 500, { transaction_status: 'REVERSED' }, { event: 'transaction.reversed' });
    const failure = paid('FAILED', 500, { transaction_status: 'FAILED' }, { event: 'transaction.failed' });
    await inbox.expect(money('FAILED'));
    await sell('ORD-1', 'ORD-2');
    await deliver(reversal('ORD-1'), failure);
    expect(await inbox.payment('FAILED')).toMatchObject({ state: 'failed' });
    expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'paid', needs: 'unnamed_after_paid' });
    inbox.handle('reversed', ({ tx, payment: { merchant_reference, settled } }) =>
      merchant.credit(tx, merchant_reference, `-${settled?.amount}`),
    );
    await deliver(reversal('ORD-2'));
    expect(await inbox.payment('ORD-2')).toMatchObject({ state: 'reversed', settled: { amount: '500' } });
    await deliver(reversal('EARLY'));
    await sell('EARLY');
    expect(await inbox.payment('EARLY')).toMatchObject({ state: 'held', needs: 'transition_not_allowed' });
    const credits = ['EARLY -undefined', 'ORD-1 500', 'ORD-2 500', 'ORD-2 -500'];
    expect(await merchant.credits()).toEqual(credits);
  },
);

test('the signal of a handler is aborted when it has run for too long, and not before', async () => {
  const aborted: boolean[] = [];
  const options = { handlerTimeoutMs: 50, retry: { attempts: 1 } };
  const { inbox, pay } = await newShop('sqlite', options, async ({ signal }) => {
    aborted.push(signal.aborted);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    aborted.push(signal.aborted);
  });
  await inbox.expect(money('ORD-1'));
  await pay('ORD-1');
  expect(aborted).toEqual([false, true]);
  expect(await inbox.payment('ORD-1')).toMatchObject({ state: 'held', needs: 'attempts_used_up' });
});

test.each(ENGINES)(
  'on %s, a status is judged by the one of its transaction that was applied last',
  async (engine) => {
    const { inbox, merchant, sell, deliver } = await newShop(engine, LATER);
    const same = (status: string) => paid('ORD-1', 500, { transaction_status: status });
    inbox.handle('failed', ({ tx, signed }) => merchant.credit(tx, signed.transaction_status, '0'));
    await deliver(same('FAILED'));
    await sell('ORD-1');
    await deliver(paid('ORD-1', 501, { transaction_status: 'FAILED' }), same('PENDING'));
    expect(await merchant.credits()).toEqual(['FAILED 0', 'ORD-1 500']);
    expect(await inbox.report(same('PENDING').transitionId)).toMatchObject({ state: 'superseded' });
  },
);

test.each(ENGINES)(
  'threat A71: on %s, a handler of other statuses gets neither half of a completed report nor what follows a payment, also after an act',
  async (engine) => {
    const { inbox, merchant, sell, deliver } = await newShop(engine, LATER);
    inbox.handle('status', ({ tx, signed }) => merchant.credit(tx, signed.transaction_status, '0'));
    await sell('ORD-1');
    const reported = (reference: string, transaction_status: string, event: string) =>
      paid(reference, 500, { transaction_status }, { event });
    const half = reported('ORD-2', 'SUCCESSFUL', 'transaction.completed');
    const reversed = reported('ORD-1', 'RETURNED', 'transaction.returned');
    await deliver(half, reversed, reported('ORD-3', 'NEW', 'transaction.new'));
    for (const [{ transitionId }, name] of [
      [half, 'retry'],
      [reversed, 'apply'],
    ] as const)
      await actOnReport(inbox, transitionId, name);
    await workOff(inbox);
    const held = await inbox.reports({ state: 'quarantined' });
    expect(new Set(held.map(({ reason }) => reason))).toEqual(
      new Set(['completed_in_part', 'unnamed_after_paid']),
    );
    expect(await merchant.credits()).toEqual(['NEW 0', 'ORD-1 500']);
  },
);

test('a second handler for one selector, and work() or drain() without a handler, or work() called twice, are refused', async () => {
  const inbox = (await newMerchant('sqlite')).open();
  const { signal } = new AbortController();
  for (const call of [() => inbox.work({ signal }), () => inbox.drain()])
    await expect(call()).rejects.toMatchObject({ option: 'handler' });
  const add = (...values: unknown[]): unknown => Reflect.apply(inbox.handle, undefined, values);
  const nothing = (): undefined => undefined;
  for (const given of [['paid'], ['paid', { type: 'PAYOUT' }], ['failed'], ['status']] as const) {
    const [name, options] = given;
    add(name, nothing, options);
    expect(() => add(name, nothing, { ...options })).toThrow(ConfigurationError);
  }
  const stop = startWork(inbox);
  await expect(inbox.work({ signal })).rejects.toMatchObject({ option: 'work' });
  await stop();
});
