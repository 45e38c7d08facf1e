import { describe, expect, test } from 'vitest';
import type { HandledTransition, HandlerSelector } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, type EngineName } from '../support/merchant.ts';
import { LATER, NOTE, newShop, ORDER, order, seen, watchedInbox } from '../support/shop.ts';
import { after } from '../support/store.ts';
import { signal, startWork, until, workOff } from '../support/until.ts';

const PARKED = { state: 'conflict', reason: 'paid_by_another', nextAt: undefined };
const { transitionId: ownId } = paid('ORD-1', 500);
const OTHER = { internal_reference: 'INT-OTHER' };
const other = (transaction_status: string) =>
  paid('ORD-1', 500, { transaction_status, ...OTHER }, { event: 'transaction.failed' });

describe.each(ENGINES)('threat A53: after another transaction has paid, on %s', (engine) => {
  test.each([
    ['FAILED', 'FAILED'],
    ['REVERSED', '*'],
  ])('a %s runs no handler of %s, not even when an operator reopens it', async (status, selected) => {
    const { inbox, deliver, orders, un, show } = await newPaidShop(engine, { status: selected });
    const { transitionId } = other(status);
    await deliver(other(status));
    expect(await show(transitionId)).toMatchObject(PARKED);
    await inbox.reopen(await seen(inbox, transitionId), NOTE);
    await deliver(paid('ORD-2', 500, { transaction_status: status }, { event: 'transaction.failed' }));
    expect(await show(transitionId)).toMatchObject(PARKED);
    expect(un).toMatchObject([{ signed: { merchant_reference: 'ORD-2' } }]);
    expect(await orders()).toEqual(['ORD-1 500']);
  });

  test('a status that means failed is out of date, and needs nobody', async () => {
    const options = { statuses: { FAILED: 'failed' } };
    const { deliver, un, show } = await newPaidShop(engine, { status: 'FAILED' }, options);
    await deliver(other('FAILED'));
    expect(await show(other('FAILED').transitionId)).toMatchObject({ state: 'superseded' });
    expect(un).toEqual([]);
  });
});

// SQLite has one writer: no payment can settle while a handler runs.
test('threat A53: a payment that settles while a FAILED is handled on postgres rolls back that handler', async () => {
  const { merchant, inbox } = await newShop('postgres', LATER);
  const [isRunning, mayEnd] = [signal(), signal()];
  const unpay = async ({ tx }: HandledTransition<AnyTransaction>): Promise<void> => {
    isRunning.give();
    await mayEnd.promise;
    await merchant.uncredit(tx, 'ORD-1');
  };
  inbox.handle(unpay, { status: 'FAILED' });
  await inbox.receive(other('FAILED'));
  const stop = startWork(inbox);
  await isRunning.promise;
  await order(inbox, 'ORD-1');
  await until(async () => (await inbox.show(ownId))?.state === 'settled');
  mayEnd.give();
  await stop();
  expect(await inbox.show(other('FAILED').transitionId)).toMatchObject({ state: 'retrying' });
  expect(await merchant.credits()).toEqual(['ORD-1 500']);
});

test('threat A53: a payment waits for the commit of a FAILED whose handler was told of none, on postgres', async () => {
  const { merchant, inbox } = await newShop('postgres', LATER);
  const [hasLooked, mayEnd] = [signal(), signal()];
  const isLock = (text: string) => /^select state, needs.* for update$/s.test(text);
  const locking = after(isLock, () => {
    hasLooked.give();
    return mayEnd.promise;
  });
  const failing = watchedInbox(merchant, locking);
  failing.handle(() => undefined, { status: 'FAILED' });
  await inbox.expect(ORDER);
  await inbox.receive(other('FAILED'));
  const failed = failing.drain();
  await hasLooked.promise;
  await inbox.receive(paid('ORD-1', 500));
  const worked = workOff(inbox);
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock'
    and application_name = current_setting('application_name')`;
  const state = async (): Promise<unknown> => (await inbox.show(ownId))?.state;
  await until(async () => (await merchant.query(waiting)).length > 0 || (await state()) === 'settled');
  expect(await state()).toBe('pending');
  mayEnd.give();
  await Promise.all([failed, worked]);
  expect((await inbox.stats()).states.settled).toBe(2);
});

/** ORD-1 is paid, and a handler reverses the payment for what it receives with the selector. */
async function newPaidShop(engine: EngineName, selector: HandlerSelector, options: object = {}) {
  const { merchant, inbox, sell, deliver } = await newShop(engine, { ...LATER, ...options });
  const un: HandledTransition<AnyTransaction>[] = [];
  inbox.handle(async (transition) => {
    un.push(transition);
    await merchant.uncredit(transition.tx, transition.signed.merchant_reference);
  }, selector);
  await sell('ORD-1');
  return { inbox, deliver, un, orders: merchant.credits, show: inbox.show };
}
