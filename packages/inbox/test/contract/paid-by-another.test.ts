import { describe, expect, test } from 'vitest';
import type { HandledTransition, HandlerSelector } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, type EngineName, newMerchant } from '../support/merchant.ts';
import { LATER, MINUTE_MS, money, NOTE, shopOf } from '../support/shop.ts';
import { signal, startWork, until, workOff } from '../support/until.ts';

const PARKED = { state: 'conflict', reason: 'paid_by_another', nextAt: undefined };
const { transitionId: paidBy } = paid('ORD-1', 500);
const other = (transaction_status: string) =>
  paid(
    'ORD-1',
    500,
    { transaction_status, internal_reference: 'INT-OTHER' },
    { event: 'transaction.failed' },
  );

describe.each(ENGINES)('threat A53: after another transaction has paid, on %s', (engine) => {
  test.each([
    ['FAILED', 'FAILED'],
    ['FAILED', '*'],
    ['REVERSED', '*'],
    ['REVERSED', 'REVERSED'],
  ])('a %s un-pays nothing by a handler of %s, and a person can let it through', async (status, selected) => {
    const { inbox, orders, un, show } = await newPaidShop(engine, { status: selected });
    const { transitionId } = other(status);
    await inbox.receive(other(status));
    await workOff(inbox);
    expect(await show(transitionId)).toMatchObject(PARKED);
    expect(await orders()).toEqual(['ORD-1 500']);
    await inbox.reopen(transitionId, NOTE);
    await workOff(inbox);
    expect(un).toMatchObject([{ paidBy }]);
    expect(await show(transitionId)).toMatchObject({ state: 'settled' });
    expect(await orders()).toEqual([]);
  });

  test('a handler that asks for it receives it, and other handlers receive only unpaid ones', async () => {
    const { inbox, orders, un, show } = await newPaidShop(engine, { status: 'FAILED' });
    const asked: unknown[] = [];
    inbox.handle((transition) => asked.push(transition.paidBy), { status: 'FAILED', paidByAnother: true });
    await inbox.receive(other('FAILED'));
    await inbox.receive(paid('ORD-2', 500, { transaction_status: 'FAILED' }));
    await workOff(inbox);
    expect(asked).toEqual([paidBy]);
    expect(un).toMatchObject([{ signed: { merchant_reference: 'ORD-2' }, paidBy: undefined }]);
    expect(await show(other('FAILED').transitionId)).toMatchObject({ state: 'settled' });
    expect(await orders()).toEqual(['ORD-1 500']);
  });

  test('later statuses of the paying transaction itself are decided by allowTransitions only', async () => {
    const allowTransitions = { COMPLETED: ['REVERSED'] };
    const { inbox, un } = await newPaidShop(engine, { status: 'REVERSED' }, { allowTransitions });
    await inbox.receive(paid('ORD-1', 500, { transaction_status: 'REVERSED' }));
    await workOff(inbox);
    expect(un).toMatchObject([{ paidBy: undefined }]);
  });

  test('a status that interimStatuses names is superseded, another type is not touched, and neither waits', async () => {
    const { inbox, un, show } = await newPaidShop(engine, { status: '*' }, { interimStatuses: ['PENDING'] });
    await inbox.receive(other('PENDING'));
    const types = { transaction_type: 'PAYOUT', transaction_status: 'FAILED' };
    const payout = paid('ORD-1', 500, { ...types, internal_reference: 'INT-PAYOUT' });
    await inbox.receive(payout);
    await workOff(inbox);
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
      const merchant = await newMerchant('postgres');
      const inbox = merchant.open({ ...LATER });
      await inbox.expect(money('ORD-1'));
      const [isRunning, mayGoOn] = [signal(), signal()];
      let runs = 0;
      inbox.handle(async ({ tx, settled }) => merchant.credit(tx, 'ORD-1', settled.amount));
      inbox.handle(
        async ({ tx }) => {
          runs += 1;
          const unpay = () => tx.query("delete from credit where reference = 'ORD-1'");
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
async function newPaidShop(
  engine: EngineName,
  selector: HandlerSelector,
  options: Parameters<typeof shopOf>[1] = {},
) {
  const merchant = await newMerchant(engine);
  const { inbox, pay } = shopOf(merchant, { ...LATER, ...options });
  const un: HandledTransition<AnyTransaction>[] = [];
  inbox.handle(async ({ tx, signed, settled }) =>
    merchant.credit(tx, signed.merchant_reference, settled.amount),
  );
  inbox.handle(async (transition) => {
    un.push(transition);
    await transition.tx.query(
      `delete from credit where reference = '${transition.signed.merchant_reference}'`,
    );
  }, selector);
  await inbox.expect(money('ORD-1'));
  await pay('ORD-1');
  return { inbox, un, orders: merchant.credits, show: inbox.show };
}
