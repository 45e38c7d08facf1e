import { describe, expect, test } from 'vitest';
import type { HandledTransition, HandlerSelector } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, type EngineName } from '../support/merchant.ts';
import { LATER, MINUTE_MS, money, NOTE, newShop } from '../support/shop.ts';
import { signal, startWork, until, workOff } from '../support/until.ts';

const PARKED = { state: 'conflict', reason: 'paid_by_another', nextAt: undefined };
const { transitionId: paidBy } = paid('ORD-1', 500);
const OTHER = { internal_reference: 'INT-OTHER' };
const other = (transaction_status: string) =>
  paid('ORD-1', 500, { transaction_status, ...OTHER }, { event: 'transaction.failed' });

describe.each(ENGINES)('threat A53: after another transaction has paid, on %s', (engine) => {
  test.each([
    ['FAILED', 'FAILED'],
    ['REVERSED', '*'],
  ])('a %s un-pays nothing by a handler of %s, and a person can let it through', async (status, selected) => {
    const { inbox, deliver, orders, un, show } = await newPaidShop(engine, { status: selected });
    const { transitionId } = other(status);
    await deliver(other(status));
    expect(await show(transitionId)).toMatchObject(PARKED);
    expect(await orders()).toEqual(['ORD-1 500']);
    await inbox.reopen(transitionId, NOTE);
    await workOff(inbox);
    expect(un).toMatchObject([{ paidBy }]);
    expect(await show(transitionId)).toMatchObject({ state: 'settled' });
    expect(await orders()).toEqual([]);
  });

  test('a handler that asks for it receives it, and other handlers receive only unpaid ones', async () => {
    const { inbox, deliver, orders, un, show } = await newPaidShop(engine, { status: 'FAILED' });
    const asked: unknown[] = [];
    inbox.handle((transition) => asked.push(transition.paidBy), { status: 'FAILED', paidByAnother: true });
    await deliver(other('FAILED'), paid('ORD-2', 500, { transaction_status: 'FAILED' }));
    expect(asked).toEqual([paidBy]);
    expect(un).toMatchObject([{ signed: { merchant_reference: 'ORD-2' }, paidBy: undefined }]);
    expect(await show(other('FAILED').transitionId)).toMatchObject({ state: 'settled' });
    expect(await orders()).toEqual(['ORD-1 500']);
  });

  test('later statuses of the paying transaction itself are decided by allowTransitions only', async () => {
    const options = { allowTransitions: { COMPLETED: ['REVERSED'] } };
    const { deliver, un } = await newPaidShop(engine, { status: 'REVERSED' }, options);
    await deliver(paid('ORD-1', 500, { transaction_status: 'REVERSED' }));
    expect(un).toMatchObject([{ paidBy: undefined }]);
  });

  test('a status that interimStatuses names is superseded, another type is not touched, and neither waits', async () => {
    const options = { interimStatuses: ['PENDING'] };
    const { deliver, un, show } = await newPaidShop(engine, { status: '*' }, options);
    const payout = { transaction_type: 'PAYOUT', transaction_status: 'FAILED' };
    await deliver(other('PENDING'), paid('ORD-1', 500, { ...payout, internal_reference: 'INT-PAYOUT' }));
    expect(await show(other('PENDING').transitionId)).toMatchObject({ state: 'superseded' });
    expect(un).toMatchObject([{ signed: { transaction_type: 'PAYOUT' }, paidBy: undefined }]);
  });

  test('a handler for COMPLETED cannot ask for it', async () => {
    const { inbox } = await newPaidShop(engine, { status: '*' });
    for (const status of [undefined, 'COMPLETED'])
      expect(() =>
        Reflect.apply(inbox.handle, undefined, [() => 1, { status, paidByAnother: true }]),
      ).toThrow(expect.objectContaining({ option: 'paidByAnother' }));
    expect(() => Reflect.apply(inbox.handle, undefined, [() => 1, { paidByAnother: 'yes' }])).toThrow(
      'paidByAnother',
    );
  });
});

// SQLite has one writer: no payment can settle while a handler runs.
describe.each(['before its effect', 'after its effect'])(
  'threat A53: a payment while FAILED is handled, %s',
  (moment) => {
    test('rolls back the handler, or follows it, and the order is paid', async () => {
      const { merchant, inbox } = await newShop('postgres', LATER);
      await inbox.expect(money('ORD-1'));
      const [isRunning, mayGoOn] = [signal(), signal()];
      let runs = 0;
      inbox.handle(
        async ({ tx }) => {
          runs += 1;
          const unpay = () => merchant.uncredit(tx, 'ORD-1');
          if (moment.startsWith('after')) await unpay();
          isRunning.give();
          await mayGoOn.promise;
          if (moment.startsWith('before')) await unpay();
        },
        { status: 'FAILED' },
      );
      await inbox.receive(other('FAILED'));
      const stop = startWork(inbox);
      await isRunning.promise;
      await inbox.receive(paid('ORD-1', 500));
      await until(async () => (await inbox.show(paidBy))?.state === 'settled');
      mayGoOn.give();
      await until(async () => (await inbox.show(other('FAILED').transitionId))?.state === 'retrying');
      await stop();
      expect(await merchant.credits()).toEqual(['ORD-1 500']);
      await merchant.advance(2 * MINUTE_MS);
      await workOff(inbox);
      expect(await inbox.show(other('FAILED').transitionId)).toMatchObject(PARKED);
      expect({ runs, credits: await merchant.credits() }).toEqual({ runs: 1, credits: ['ORD-1 500'] });
    });
  },
);

/** ORD-1 is paid, and a handler un-pays what it gets under the selector. */
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
