import { describe, expect, it } from 'vitest';
import type { InboxOptions } from '../../src/index.ts';
import { callback, type Payload, paid } from '../support/callbacks.ts';
import {
  type AnyTransaction,
  ENGINES,
  type EngineName,
  type Merchant,
  newMerchant,
} from '../support/merchant.ts';
import { pause, signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

const failed = (reference: string, payload: Payload = {}) =>
  callback(
    {
      merchant_reference: reference,
      internal_reference: `INT-${reference}`,
      transaction_status: 'FAILED',
      ...payload,
    },
    { event: 'transaction.failed' },
  );

describe.each(ENGINES)('order of statuses on %s', (engine) => {
  it('without statuses the handler gets completed transactions only; others wait, and are not lost', async () => {
    const { merchant, inbox, applied } = await shop(engine);
    await inbox.receive(failed('ORD-1'));
    await inbox.receive(callback({ transaction_status: 'NEVER_SEEN_BEFORE' }, { event: 'x' }));
    await workOff(inbox);
    expect(applied).toEqual([]);
    expect((await inbox.stats()).states).toMatchObject({ unhandled: 2 });
    expect(await inbox.list()).toMatchObject([{ reason: 'no_handler' }, { reason: 'no_handler' }]);
  });

  it('a late FAILED after COMPLETED does not undo an order', async () => {
    const { merchant, inbox, applied } = await shop(engine, ['COMPLETED', 'FAILED']);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    await inbox.receive(failed('ORD-1'));
    await workOff(inbox);
    expect(applied).toEqual(['COMPLETED']);
    expect(await inbox.list({ state: 'quarantined' })).toMatchObject([{ reason: 'transition_not_allowed' }]);
  });

  it('a late FAILED is applied where the merchant allows it', async () => {
    const { merchant, inbox, applied } = await shop(engine, ['COMPLETED', 'FAILED'], {
      allowTransitions: { COMPLETED: ['FAILED'] },
    });
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    await inbox.receive(failed('ORD-1'));
    await workOff(inbox);
    expect(applied).toEqual(['COMPLETED', 'FAILED']);
  });

  it('COMPLETED after FAILED is applied', async () => {
    const { merchant, inbox, applied } = await shop(engine, ['COMPLETED', 'FAILED']);
    await inbox.receive(failed('ORD-1'));
    await workOff(inbox);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(applied).toEqual(['FAILED', 'COMPLETED']);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('naming other statuses in allowTransitions leaves the default for COMPLETED', async () => {
    const { merchant, inbox, applied } = await shop(engine, ['COMPLETED', 'FAILED'], {
      allowTransitions: { FAILED: [] },
    });
    await inbox.receive(failed('ORD-1'));
    await workOff(inbox);
    await inbox.receive(paid('ORD-1', 500));
    await inbox.receive(paid('ORD-2', 500));
    await workOff(inbox);
    await inbox.receive(failed('ORD-2'));
    await workOff(inbox);
    expect(applied).toEqual(['FAILED', 'COMPLETED']);
    expect((await inbox.stats()).states).toMatchObject({ settled: 2, quarantined: 2 });
  });

  it('the order of one transaction says nothing about another', async () => {
    const { merchant, inbox, applied } = await shop(engine, ['COMPLETED', 'FAILED']);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    await inbox.receive(failed('ORD-1', { internal_reference: 'INT-OTHER' }));
    await workOff(inbox);
    expect(applied).toEqual(['COMPLETED', 'FAILED']);
  });

  it('COMPLETED under another event is no payment', async () => {
    const { merchant, inbox, applied } = await shop(engine, ['COMPLETED']);
    await inbox.receive(callback({ merchant_reference: 'ORD-1' }, { event: 'transaction.reversed' }));
    await workOff(inbox);
    expect(applied).toEqual([]);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_handler' }]);
  });

  it.each(['merchant_reference', 'internal_reference'])('an empty %s is quarantined', async (name) => {
    const { merchant, inbox } = await shop(engine);
    await inbox.receive(callback({ [name]: '' }));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'empty_reference' }]);
  });

  it('works on the transitions of one internal_reference one after the other', async () => {
    const merchant = await newMerchant(engine);
    const workers = [merchant.open(), merchant.open()];
    const running = new Map<string, number>();
    let most = 0;
    for (const inbox of workers) {
      inbox.handle(
        async ({ signed }) => {
          const count = (running.get(signed.internal_reference) ?? 0) + 1;
          running.set(signed.internal_reference, count);
          most = Math.max(most, count);
          await pause(15);
          running.set(signed.internal_reference, count - 1);
        },
        { statuses: ['A', 'B', 'C', 'D', 'E'] },
      );
    }
    const [inbox] = workers;
    if (inbox === undefined) throw new Error('no worker');
    for (const transaction_status of ['A', 'B', 'C', 'D', 'E']) {
      await inbox.receive(callback({ transaction_status, internal_reference: 'ONE' }));
      await inbox.receive(
        callback({ transaction_status, internal_reference: 'TWO', merchant_reference: 'TWO' }),
      );
    }
    const stops = workers.map((worker) => startWork(worker));
    await until(async () => (await inbox.stats()).states.settled === 10);
    for (const stop of stops) await stop();
    expect(most).toBe(1);
  });
});

describe('order of statuses on postgres', () => {
  it('handlers of different transactions run side by side', async () => {
    const merchant = await newMerchant('postgres');
    const inbox = merchant.open();
    let running = 0;
    const all = signal();
    inbox.handle(async () => {
      running += 1;
      if (running === 4) all.give();
      await all.promise;
    });
    for (const reference of ['1', '2', '3', '4']) {
      await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500 });
      await inbox.receive(paid(reference, 500));
    }
    await workOff(inbox, { concurrency: 4 });
    expect((await inbox.stats()).states.settled).toBe(4);
  });

  it('a duplicate and another body are acknowledged while the handler runs', async () => {
    const merchant = await newMerchant('postgres');
    const inbox = merchant.open();
    const [isRunning, mayEnd] = [signal(), signal()];
    inbox.handle(async () => {
      isRunning.give();
      await mayEnd.promise;
    });
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: 500 });
    await inbox.receive(paid('ORD-1', 500));
    const stop = startWork(inbox);
    await isRunning.promise;
    await inbox.receive(paid('ORD-1', 500));
    await inbox.receive(paid('ORD-1', 900));
    expect(await inbox.list()).toMatchObject([{ state: 'pending', deliveries: 3, bodyCount: 2 }]);
    mayEnd.give();
    await until(async () => (await inbox.stats()).states.settled === 1);
    await stop();
  });
});

async function shop(
  engine: EngineName,
  statuses?: readonly string[],
  options: Partial<InboxOptions<AnyTransaction>> = {},
): Promise<{ merchant: Merchant; inbox: ReturnType<Merchant['open']>; applied: string[] }> {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open(options);
  const applied: string[] = [];
  for (const reference of ['ORD-1', 'ORD-2']) {
    await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500 });
  }
  if (statuses === undefined) {
    inbox.handle(({ signed }) => applied.push(signed.transaction_status));
  } else {
    inbox.handle(
      async ({ tx, signed, settled }) => {
        applied.push(signed.transaction_status);
        if (settled !== undefined) await merchant.credit(tx, signed.merchant_reference, settled.amount);
      },
      { statuses },
    );
  }
  return { merchant, inbox, applied };
}
