import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES, type Merchant, newMerchant } from '../support/merchant.ts';
import { creditIn, LATER, order } from '../support/shop.ts';
import { watchedStore } from '../support/store.ts';
import { signal, startWork, until } from '../support/until.ts';

const { transitionId } = paid('ORD-1', 500);

// On SQLite the other worker would write only after the handler, which has the only writer.
const MOMENTS = ENGINES.flatMap((engine) => {
  const moments = ['between its start and its handler', 'in its handler'];
  return (engine === 'postgres' ? moments : moments.slice(0, 1)).map((moment) => [engine, moment] as const);
});

describe('threat A51: the start of another worker', () => {
  test.each(MOMENTS)(
    'is not taken back on %s by a worker whose own start got no answer, %s',
    async (engine, moment) => {
      const { merchant, lost, unanswered } = await newLostStart(engine);
      let runs = 0;
      const meanwhile = async (): Promise<void> => {
        unanswered.give();
        await lost.promise;
      };
      const store = watchedStore(merchant.newStore(), async (text, run) => {
        const rows = await run();
        if (isStart(text) && moment.startsWith('between')) await meanwhile();
        return rows;
      });
      const inbox = merchant.open({ ...LATER, store });
      inbox.handle(async (transition) => {
        runs += 1;
        await creditIn(merchant)(transition);
        if (moment.startsWith('in')) await meanwhile();
      });
      const stop = startWork(inbox);
      await until(async () => (await inbox.show(transitionId))?.state !== 'pending');
      await stop();
      expect(runs).toBe(1);
      expect(await inbox.list()).toMatchObject([{ state: 'settled', attempts: 1 }]);
      expect(await merchant.credits()).toEqual(['ORD-1 500']);
      expect(merchant.problems).toEqual([]);
    },
  );

  test.each(ENGINES)(
    'that ended with its process still counts on %s, whatever another worker takes back',
    async (engine) => {
      const { merchant, lost, unanswered } = await newLostStart(engine);
      const table = merchant.table('transition');
      // A worker on this machine that was killed right after its start.
      await merchant.query(
        `update ${table} set attempts = 1, unfinished = 1, start_id = 'killed', next_at = next_at + 60000`,
      );
      unanswered.give();
      await lost.promise;
      expect(await merchant.query(`select attempts, unfinished from ${table}`)).toEqual([
        { attempts: 1, unfinished: 1 },
      ]);
    },
  );

  test.each(ENGINES)(
    'is not parked, failed or settled by a worker that was overtaken, on %s',
    async (engine) => {
      const merchant = await newMerchant(engine);
      const inbox = merchant.open({ ...LATER, store: merchant.newStore() });
      await order(inbox, 'ORD-1');
      const table = merchant.table('transition');
      // Another worker starts it between this one's start and its transaction.
      const store = watchedStore(merchant.newStore(), async (text, run) => {
        const rows = await run();
        if (isStart(text)) await merchant.query(`update ${table} set start_id = 'another'`);
        return rows;
      });
      const overtaken = merchant.open({ ...LATER, store });
      overtaken.handle(creditIn(merchant));
      const stop = startWork(overtaken);
      await until(async () => (await overtaken.show(transitionId))?.attempts === 1);
      await stop();
      expect(await merchant.credits()).toEqual([]);
      expect(await merchant.query(`select state, attempts, unfinished, start_id from ${table}`)).toEqual([
        { state: 'pending', attempts: 1, unfinished: 1, start_id: 'another' },
      ]);
    },
  );
});

test('an idle worker on PostgreSQL finds and starts a payment in one statement', async () => {
  const merchant = await newMerchant('postgres');
  const looks: number[] = [];
  let starts = 0;
  const store = watchedStore(merchant.newStore(), async (text, run) => {
    const rows = await run();
    if (text.includes('limit 50')) looks.push(rows.length);
    else if (isStart(text)) starts += 1;
    return rows;
  });
  const inbox = merchant.open({ ...LATER, store });
  inbox.handle(creditIn(merchant));
  await order(inbox, 'ORD-1');
  const stop = startWork(inbox);
  await until(async () => (await inbox.show(transitionId))?.state === 'settled');
  await stop();
  expect({ looks: looks.filter((count) => count > 0), starts }).toEqual({ looks: [1], starts: 0 });
});

function isStart(text: string): boolean {
  return text.includes('unfinished = unfinished + 1');
}

/**
 * A due transition, and a worker whose start never reached the database. It takes its start back after `unanswered`, and
 * `lost` says that it has.
 */
async function newLostStart(engine: Merchant['engine']) {
  const merchant = await newMerchant(engine);
  const [asked, unanswered, lost] = [signal(), signal(), signal()];
  const store = watchedStore(merchant.newStore(), async (text, run) => {
    if (isStart(text)) {
      asked.give();
      throw new Error('the connection was lost');
    }
    if (!text.includes('unfinished = unfinished - 1')) return run();
    await unanswered.promise;
    const rows = await run();
    lost.give();
    return rows;
  });
  const inbox = merchant.open({ ...LATER, store });
  await order(inbox, 'ORD-1');
  inbox.handle(creditIn(merchant));
  const stop = startWork(inbox);
  await asked.promise;
  // It starts nothing further, and takes back what it may have started.
  void stop();
  return { merchant, lost, unanswered };
}
