import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { claim, startHandler } from '../src/sqlite/claim.ts';
import { SqliteConnection } from '../src/sqlite/connection.ts';
import { StartCounter } from '../src/sqlite/start-counter.ts';
import { StartNote } from '../src/sqlite/start-note.ts';
import type { Merchant } from './support/merchant.ts';
import { newDueShop } from './support/shop.ts';

describe('a claim on sqlite', () => {
  it('four workers that see the same transition before one of them begins: one has it, and nothing is counted', async () => {
    const { merchant } = await newDueShop('sqlite');
    const workers = [newWorker(merchant), newWorker(merchant), newWorker(merchant), newWorker(merchant)];
    // Each of them has seen it, and before it begins the next one comes.
    const refusals: unknown[] = [];
    const claimFrom = (index: number): Uint8Array | undefined => {
      const worker = workers[index];
      if (worker === undefined) return undefined;
      let inner: Uint8Array | undefined;
      worker.connection.beforeBegin = () => {
        inner = claimFrom(index + 1);
      };
      try {
        return worker.claim() ?? inner;
      } catch (error) {
        refusals.push(error);
        return inner;
      }
    };
    expect(claimFrom(0)).toBeInstanceOf(Uint8Array);
    expect(refusals).toMatchObject([{ errcode: 5 }, { errcode: 5 }, { errcode: 5 }]);
    expect(workers[3]?.starts()).toEqual([]);
  });

  it('a start that its process does not survive is counted once, by whoever comes next', async () => {
    const { merchant } = await newDueShop('sqlite');
    for (const died of [0, 1, 2]) {
      const worker = newWorker(merchant);
      worker.start(worker.claim());
      expect(worker.starts()).toEqual([died + 1]);
      // As the system does with the files of a process that has ended.
      worker.connection.close();
    }
    for (const _ of [1, 2]) {
      const next = newWorker(merchant);
      expect(next.claim()).toBeInstanceOf(Uint8Array);
      expect(next.starts()).toEqual([3]);
      next.connection.close();
    }
  });

  it('a worker that dies before its handler starts is not counted', async () => {
    const { merchant } = await newDueShop('sqlite');
    const worker = newWorker(merchant);
    worker.claim();
    worker.connection.close();
    const next = newWorker(merchant);
    next.claim();
    expect(next.starts()).toEqual([]);
  });

  it('nor is a start that was committed, or was taken back', async () => {
    const { merchant } = await newDueShop('sqlite');
    const worker = newWorker(merchant);
    worker.start(worker.claim());
    worker.counter.forget();
    worker.connection.rollback();
    worker.start(worker.claim());
    worker.connection.commit();
    worker.counter.keep();
    const next = newWorker(merchant);
    next.claim();
    // The one that was committed, as that of an attempt that has failed.
    expect(next.starts()).toEqual([1]);
  });

  it.each(['', 'no note', '0000000000000001 ', `${'0'.repeat(15)}7 ${'ab'.repeat(32)}\n`])(
    'a note that the end of the machine has spoilt is no note: %j',
    async (note) => {
      const { merchant } = await newDueShop('sqlite');
      writeFileSync(`${pathOf(merchant)}-start`, note);
      const worker = newWorker(merchant);
      worker.start(worker.claim());
      expect(worker.starts()).toEqual([1]);
    },
  );
});

/** Lets others in after it has seen what is due, and before it has the write lock. */
class InterruptedConnection extends SqliteConnection {
  beforeBegin: () => void = () => undefined;

  override begin(): void {
    this.beforeBegin();
    super.begin();
  }
}

function newWorker(merchant: Merchant): {
  connection: InterruptedConnection;
  counter: StartCounter;
  claim(): Uint8Array | undefined;
  start(transitionId: Uint8Array | undefined): void;
  starts(): unknown[];
} {
  const connection = new InterruptedConnection(pathOf(merchant), 20);
  onTestFinished(() => {
    try {
      connection.close();
    } catch {
      // The test has closed it.
    }
  });
  const counter = new StartCounter(connection, new StartNote(pathOf(merchant)));
  return {
    connection,
    counter,
    claim: () => claim({ connection, starts: counter, account: '', now: merchant.clock.now() }),
    start: (transitionId = new Uint8Array()) => startHandler({ connection, starts: counter }, transitionId),
    starts: () =>
      connection.query(`select starts from ${merchant.table('start')}`).rows.map((row) => row['starts']),
  };
}

function pathOf({ programArguments }: Merchant): string {
  return programArguments[1] ?? '';
}
