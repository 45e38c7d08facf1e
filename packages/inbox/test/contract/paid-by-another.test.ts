import { describe, expect, test } from 'vitest';
import type { Handled, HandlerName } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, type EngineName } from '../support/merchant.ts';
import { actOnReport, LATER, newShop, ORDER, order, watchedInbox } from '../support/shop.ts';
import { after } from '../support/store.ts';
import { signal, startWork, statesOf, until, workOff } from '../support/until.ts';

const PARKED = { state: 'conflict', reason: 'paid_by_another', nextAt: undefined };
const { transitionId: ownId } = paid('ORD-1', 500);
const OTHER = { internal_reference: 'INT-OTHER' };
const other = (transaction_status: string) =>
  paid('ORD-1', 500, { transaction_status, ...OTHER }, { event: 'transaction.failed' });

describe.each(ENGINES)('threat A53: after another transaction has paid, on %s', (engine) => {
  test.each([
    ['OTHER', 'status'],
    ['REVERSED', 'reversed'],
  ] as const)('a %s runs no handler of %s, not even when an operator retries it', async (status, name) => {
    const { inbox, deliver, orders, un, show } = await newPaidShop(engine, name);
    const { transitionId } = other(status);
    await deliver(other(status));
    expect(await show(transitionId)).toMatchObject(PARKED);
    await expect(actOnReport(inbox, transitionId, 'apply')).rejects.toThrow('not possible');
    await actOnReport(inbox, transitionId, 'retry');
    await deliver(paid('ORD-2', 500, { transaction_status: status }, { event: 'transaction.failed' }));
    expect(await show(transitionId)).toMatchObject(PARKED);
    expect(un).toMatchObject([{ signed: { merchant_reference: 'ORD-2' } }]);
    expect(await orders()).toEqual(['ORD-1 500']);
  });

  test('a status that means failed is out of date, and needs no person', async () => {
    const { deliver, un, show } = await newPaidShop(engine, 'failed');
    await deliver(other('FAILED'));
    expect(await show(other('FAILED').transitionId)).toMatchObject({ state: 'superseded' });
    expect(un).toEqual([]);
  });
});

// SQLite has one writer: no payment can settle while a handler runs.
test('threat A53: a payment that settles while a FAILED is handled on postgres rolls back that handler', async () => {
  const { merchant, inbox } = await newShop('postgres', LATER);
  const [isRunning, mayEnd] = [signal(), signal()];
  const unpay = async ({ tx }: Handled<AnyTransaction>): Promise<void> => {
    isRunning.give();
    await mayEnd.promise;
    await merchant.uncredit(tx, 'ORD-1');
  };
  inbox.handle('failed', unpay);
  await inbox.route.onCallback(other('FAILED'));
  const stop = startWork(inbox);
  await isRunning.promise;
  await order(inbox, 'ORD-1');
  await until(async () => (await inbox.report(ownId))?.state === 'settled');
  mayEnd.give();
  await stop();
  expect(await inbox.report(other('FAILED').transitionId)).toMatchObject({ state: 'retrying' });
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
  failing.handle('failed', () => undefined);
  await inbox.expect(ORDER);
  await inbox.route.onCallback(other('FAILED'));
  const failed = failing.drain();
  await hasLooked.promise;
  await inbox.route.onCallback(paid('ORD-1', 500));
  const worked = workOff(inbox);
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock'
    and application_name = current_setting('application_name')`;
  const state = async (): Promise<unknown> => (await inbox.report(ownId))?.state;
  await until(async () => (await merchant.query(waiting)).length > 0 || (await state()) === 'settled');
  expect(await state()).toBe('pending');
  mayEnd.give();
  await Promise.all([failed, worked]);
  expect((await statesOf(inbox)).settled).toBe(2);
});

/** ORD-1 is paid, and a handler reverses the payment for what it is told. */
async function newPaidShop(engine: EngineName, name: HandlerName) {
  const { merchant, inbox, sell, deliver } = await newShop(engine, LATER);
  const un: Handled<AnyTransaction>[] = [];
  inbox.handle(name, async (transition) => {
    un.push(transition);
    await merchant.uncredit(transition.tx, transition.signed.merchant_reference);
  });
  await sell('ORD-1');
  return { inbox, deliver, un, orders: merchant.credits, show: inbox.report };
}
