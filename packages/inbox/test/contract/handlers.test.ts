import { ConfigurationError } from '@payment-service/core';
import { expect, test } from 'vitest';
import type { HandledTransition, HandlerSelector } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, newMerchant } from '../support/merchant.ts';
import { LATER, money, NOTE, newShop, seen } from '../support/shop.ts';
import { startWork, workOff } from '../support/until.ts';

test('the most specific handler receives a transition: type and status, then status, then type, then the wildcard', async () => {
  const inbox = (await newMerchant('sqlite')).open();
  const applied: string[] = [];
  const payouts = [{ type: 'PAYOUT' }, { type: 'PAYOUT', status: 'FAILED' }];
  const others = [{ status: 'FAILED' }, { type: 'REFUND', status: '*' }, { status: '*' }];
  const selectors: readonly HandlerSelector[] = [{}, ...payouts, ...others];
  for (const [index, selector] of selectors.entries()) {
    const handler = ({ signed, settled }: HandledTransition<AnyTransaction>): void => {
      const { transaction_type: type, transaction_status: status } = signed;
      applied.push(`${type} ${status}: ${index}${settled === undefined ? '' : ` ${settled.amount}`}`);
    };
    inbox.handle(handler, selector);
  }
  for (const transaction_type of ['COLLECTION', 'PAYOUT', 'REFUND']) {
    for (const status of ['COMPLETED', 'FAILED', 'OTHER']) {
      const reference = `${transaction_type}-${status}`;
      await inbox.expect({ ...money(reference), transaction_type });
      const event = status === 'COMPLETED' ? 'transaction.completed' : 'transaction.other';
      await inbox.receive(paid(reference, 500, { transaction_type, transaction_status: status }, { event }));
    }
  }
  await workOff(inbox);
  expect(applied.sort()).toEqual([
    ...['COLLECTION COMPLETED: 0 500', 'COLLECTION FAILED: 3', 'COLLECTION OTHER: 5'],
    ...['PAYOUT COMPLETED: 1 500', 'PAYOUT FAILED: 2', 'PAYOUT OTHER: 5'],
    // The status comes before the type: a handler for completed transactions also gets those of a type with a wildcard
    // handler.
    ...['REFUND COMPLETED: 0 500', 'REFUND FAILED: 3', 'REFUND OTHER: 4'],
  ]);
});

test.each(ENGINES)(
  'on %s, a status is judged by the one of its transaction that was applied last',
  async (engine) => {
    const { inbox, merchant, sell, deliver } = await newShop(engine, LATER);
    const same = (status: string) => paid('ORD-1', 500, { transaction_status: status });
    for (const status of ['FAILED', 'REVERSED'])
      inbox.handle(({ tx }) => merchant.credit(tx, status, '0'), { status });
    await deliver(same('FAILED'));
    await sell('ORD-1');
    await deliver(same('REVERSED'));
    expect(await merchant.credits()).toEqual(['FAILED 0', 'ORD-1 500']);
    const reversed = await inbox.show(same('REVERSED').transitionId);
    expect(reversed).toMatchObject({ state: 'quarantined', reason: 'transition_not_allowed' });
  },
);

test.each(ENGINES)(
  "threat A71: on %s, a handler of '*' gets neither half of a completed report nor what follows a payment, also if it is reopened",
  async (engine) => {
    const { inbox, merchant, sell, deliver } = await newShop(engine, LATER);
    inbox.handle(({ tx, signed }) => merchant.credit(tx, signed.transaction_status, '0'), { status: '*' });
    await sell('ORD-1');
    const reported = (reference: string, transaction_status: string, event: string) =>
      paid(reference, 500, { transaction_status }, { event });
    const half = reported('ORD-2', 'SUCCESSFUL', 'transaction.completed');
    const reversed = reported('ORD-1', 'REVERSED', 'transaction.reversed');
    await deliver(half, reversed, reported('ORD-3', 'FAILED', 'transaction.failed'));
    for (const { transitionId } of [half, reversed])
      await inbox.reopen(await seen(inbox, transitionId), NOTE);
    await workOff(inbox);
    const held = await inbox.list({ state: 'quarantined' });
    expect(new Set(held.map(({ reason }) => reason))).toEqual(
      new Set(['completed_in_part', 'unnamed_after_paid']),
    );
    expect(await merchant.credits()).toEqual(['FAILED 0', 'ORD-1 500']);
  },
);

test('a second handler for one selector, and work() or drain() without a handler, or work() called twice, are refused', async () => {
  const inbox = (await newMerchant('sqlite')).open();
  const { signal } = new AbortController();
  for (const call of [() => inbox.work({ signal }), () => inbox.drain()])
    await expect(call()).rejects.toMatchObject({ option: 'handler' });
  const add = (...values: unknown[]): unknown => Reflect.apply(inbox.handle, undefined, values);
  const nothing = (): undefined => undefined;
  for (const selector of [undefined, { type: 'PAYOUT' }, { status: 'FAILED' }, { status: '*' }]) {
    add(nothing, selector);
    expect(() => add(nothing, { ...selector })).toThrow(ConfigurationError);
  }
  expect(() => add(nothing, { type: '*', status: 'COMPLETED' })).toThrow('already');
  const stop = startWork(inbox);
  await expect(inbox.work({ signal })).rejects.toMatchObject({ option: 'work' });
  await stop();
});
