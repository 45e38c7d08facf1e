import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MOST_RETRY_MS } from '../src/sqlite/retry-interval.ts';
import type { StoreEngine } from '../src/store.ts';
import type { AnyTransaction, Merchant } from './support/merchant.ts';
import { expectNextCredit } from './support/next-credit.ts';
import { newDueShop, ORDER } from './support/shop.ts';
import { pause, signal } from './support/until.ts';
import { startWork } from './support/working.ts';

describe('the write lock of sqlite', () => {
  it('is left to other processes between the handlers of a backlog', async () => {
    const { merchant } = await newDueShop('sqlite');
    const lane = await openEngine(merchant).openLane(PATIENT);
    const takeTheLock = (): Promise<unknown> => lane.claim('', merchant.clock.now());
    expect(await takeTheLock()).toBeInstanceOf(Uint8Array);
    expect(lockIsFree(merchant)).toBe(false);
    // What the lane leaves to others is a part of the time for which it kept the lock.
    await pause(64);
    await lane.rollback();
    const next = takeTheLock();
    // By now every other process that waits has tried again; a timer of the lane that is longer cannot be due before this.
    await pause(MOST_RETRY_MS);
    // And none can fire while this thread sleeps: had the lane asked for the lock before, it would have it now.
    sleep(200);
    expect(lockIsFree(merchant)).toBe(true);
    expect(await next).toBeInstanceOf(Uint8Array);
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
    await expectNextCredit(merchant, inbox);
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

/** As another process would try it, once. */
function lockIsFree({ programArguments: [, path = ''] }: Merchant): boolean {
  const other = new DatabaseSync(path, { timeout: 0 });
  try {
    other.exec('begin immediate; rollback');
    return true;
  } catch (error) {
    expect(error).toMatchObject({ errcode: 5 });
    return false;
  } finally {
    other.close();
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Longer than the time limits of its test, and not for ever: SQLite cannot be interrupted. */
const LONG_STATEMENT =
  'with recursive n (i) as (select 1 union all select i + 1 from n where i < 8000000) select count(*) from n';
