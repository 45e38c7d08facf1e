import { describe, expect, it, onTestFinished } from 'vitest';
import { callbackRecord } from '../src/intake-record.ts';
import type { StoreEngine } from '../src/store.ts';
import { paid } from './support/callbacks.ts';
import type { AnyTransaction, Merchant } from './support/merchant.ts';
import { newDueShop, ORDER } from './support/shop.ts';
import { pause, signal } from './support/until.ts';
import { startWork } from './support/working.ts';

describe('the write lock of sqlite', () => {
  it('is left to other processes between the handlers of a backlog', async () => {
    const { merchant } = await newDueShop('sqlite');
    const lane = await openEngine(merchant).openLane(PATIENT);
    // Another engine on the file is another process to this one: they have no turn in common.
    const receiver = openEngine(merchant);
    const takeTheLock = async (): Promise<void> => {
      expect(await lane.claim('', merchant.clock.now())).toBeInstanceOf(Uint8Array);
    };
    for (const reference of ['R-1', 'R-2', 'R-3', 'R-4', 'R-5', 'R-6', 'R-7', 'R-8']) {
      await takeTheLock();
      let isKept = false;
      const kept = receiver.receive([callbackRecord(paid(reference, 500), '', 1)], '').then(() => {
        isKept = true;
      });
      for (let handlers = 0; handlers < 5 && !isKept; handlers += 1) {
        await pause(64);
        await lane.rollback();
        await takeTheLock();
      }
      await lane.rollback();
      expect(isKept).toBe(true);
      await kept;
    }
    await lane.close();
  });

  it('is not waited for without limit behind a statement that does not end', async () => {
    const { merchant, inbox } = await newDueShop('sqlite', { handlerTimeoutMs: 100, storeTimeoutMs: 100 });
    const isRunning = signal();
    inbox.handle(async ({ tx }) => {
      isRunning.give();
      await tx.query(LONG_STATEMENT);
    });
    const [due] = await inbox.list();
    const stop = startWork(inbox);
    await isRunning.promise;
    const calls = [
      inbox.transaction((tx) => merchant.credit(tx, 'x', '1')),
      inbox.expect({ ...ORDER, merchant_reference: 'ORD-2' }),
      inbox.retry(due?.transitionId ?? ''),
    ];
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({
        reason: { code: 'ETIMEDOUT', message: expect.stringContaining('kept the SQLite file for 200 ms') },
      });
    }
    await stop();
    // The turn has gone on to the next one.
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toEqual([{ reference: 'next', amount: '1' }]);
  });
});

const PATIENT = { storeTimeoutMs: 30_000, handlerTimeoutMs: 30_000 };

function openEngine(merchant: Merchant): StoreEngine<AnyTransaction> {
  const engine = merchant
    .newStore()
    .open({ ...PATIENT, spool: undefined, now: merchant.clock.now, onConnectionLost: () => undefined });
  onTestFinished(() => engine.close());
  return engine;
}

/** Longer than the time limits of its test, and not for ever: SQLite cannot be interrupted. */
const LONG_STATEMENT =
  'with recursive n (i) as (select 1 union all select i + 1 from n where i < 8000000) select count(*) from n';
