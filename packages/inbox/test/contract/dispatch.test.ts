import { describe, expect, it } from 'vitest';
import { callback, paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { creditIn, money, newShop, ORDER } from '../support/shop.ts';
import { countingStore } from '../support/store.ts';
import { pause, signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

const HOUR = 3_600_000;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

describe.each(ENGINES)('the work on %s', (engine) => {
  it('finds what was kept while it was still told that nothing is due', async () => {
    const merchant = await newMerchant(engine);
    const [toldNothing, goOn] = [signal(), signal()];
    const store = merchant.newStore();
    const query: typeof store.query = async (text, values, tx) => {
      const rows = await store.query(text, values, tx);
      if (!text.includes('limit 50') || rows.length > 0) return rows;
      toldNothing.give();
      await goOn.promise;
      return rows;
    };
    const inbox = merchant.open({ store: { ...store, query } });
    inbox.handle(creditIn(merchant));
    await inbox.expect(ORDER);
    const stop = new AbortController();
    const working = inbox.work({ signal: stop.signal, pollMs: HOUR });
    await toldNothing.promise;
    await inbox.receive(paid('ORD-1', 500));
    goOn.give();
    await until(async () => (await inbox.stats()).states.settled === 1);
    stop.abort();
    await working;
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('settles what waits for an expectation a second later when the wake-up is missed', async () => {
    const merchant = await newMerchant(engine);
    const store = countingStore(merchant.newStore(), async (text) =>
      text.includes('looks = 0') && text.includes('reference_key = $1') ? [] : undefined,
    );
    const inbox = merchant.open({ store });
    inbox.handle(creditIn(merchant));
    const nextIn = async (): Promise<number> => {
      const [{ nextAt, changedAt } = { nextAt: undefined, changedAt: new Date(0) }] = await inbox.list();
      return (nextAt?.getTime() ?? 0) - changedAt.getTime();
    };
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await nextIn()).toBe(1000);
    await inbox.expect(ORDER);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_expectation', attempts: 0 }]);
    await merchant.clock.advance(1000);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('looks ten times at what waits for an expectation, reports it once, and then waits to be woken', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('ORD-1', 500));
    for (let look = 0; look <= 10; look += 1) {
      await workOff(inbox);
      if (look < 10) expect((await inbox.list())[0]?.nextAt).toBeInstanceOf(Date);
      await merchant.clock.advance(HOUR);
    }
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', nextAt: undefined, attempts: 0 }]);
    expect(merchant.events.filter(({ name }) => name === 'transition.parked')).toHaveLength(1);
    await inbox.expect(ORDER);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('runs the transitions of one internal_reference one after the other, in all workers', async () => {
    const merchant = await newMerchant(engine);
    const workers = [merchant.open(), merchant.open()];
    const running = new Map<string, number>();
    let most = 0;
    for (const inbox of workers) {
      inbox.handle(
        async ({ signed: { internal_reference: name } }) => {
          running.set(name, (running.get(name) ?? 0) + 1);
          most = Math.max(most, running.get(name) ?? 0);
          await pause(5);
          running.set(name, (running.get(name) ?? 0) - 1);
        },
        { status: '*' },
      );
    }
    const [inbox = merchant.open()] = workers;
    // More than a window of one, and another behind it.
    const statuses = [...LETTERS, ...LETTERS.toUpperCase(), ...'0123456789'];
    for (const transaction_status of statuses) {
      await inbox.receive(callback({ transaction_status, internal_reference: 'ONE' }));
    }
    await inbox.receive(callback({ transaction_status: 'A', internal_reference: 'TWO' }));
    const stops = workers.map((worker) => startWork(worker));
    await until(async () => (await inbox.stats()).states.settled === statuses.length + 1);
    for (const stop of stops) await stop();
    expect(most).toBe(1);
    expect((await inbox.list({ limit: 100 })).every(({ attempts }) => attempts === 1)).toBe(true);
  });
});

describe('the work on postgres', () => {
  it('takes at most 20 statements and 4 transactions for one payment, from receive() to settled', async () => {
    const merchant = await newMerchant('postgres');
    const store = countingStore(merchant.newStore());
    const inbox = merchant.open({ store });
    inbox.handle(creditIn(merchant));
    await inbox.expect(ORDER);
    const stop = new AbortController();
    const working = inbox.work({ signal: stop.signal, pollMs: HOUR });
    await until(() => store.statements.some((text) => text.includes('limit 50')));
    await pause(50);
    const [statements, transactions] = [store.statements.length, store.transactions()];
    const settled = until(() => merchant.events.some(({ name }) => name === 'transition.settled'));
    await inbox.receive(paid('ORD-1', 500));
    await settled;
    await pause(50);
    const made = store.statements.slice(statements);
    // One more is the handler's own.
    expect(made.length + 1, made.join('\n')).toBeLessThanOrEqual(20);
    expect(store.transactions() - transactions, made.join('\n')).toBeLessThanOrEqual(4);
    stop.abort();
    await working;
    // The control: the counter counts.
    expect(store.transactions() - transactions).toBeGreaterThanOrEqual(3);
  });

  it('handles different transactions side by side, while callbacks of the same ones are acknowledged', async () => {
    const merchant = await newMerchant('postgres');
    const inbox = merchant.open();
    const [all, mayEnd] = [signal(), signal()];
    let running = 0;
    inbox.handle(async () => {
      running += 1;
      if (running === 4) all.give();
      await mayEnd.promise;
    });
    for (const reference of ['1', '2', '3', '4']) {
      await inbox.expect(money(reference));
      await inbox.receive(paid(reference, 500));
    }
    const stop = startWork(inbox, { concurrency: 4 });
    await all.promise;
    await inbox.receive(paid('1', 500));
    await inbox.receive(paid('1', 900));
    const [first] = await inbox.list({ merchant_reference: '1' });
    expect(first).toMatchObject({ state: 'pending', deliveries: 3, bodyCount: 2 });
    mayEnd.give();
    await until(async () => (await inbox.stats()).states.settled === 4);
    await stop();
  });

  it('finds an expectation that was not committed yet when it looked', async () => {
    const { merchant, inbox } = await newShop('postgres');
    await inbox.ready();
    const stop = startWork(inbox);
    await merchant.transaction(async (tx) => {
      await inbox.expect(ORDER, { tx });
      await inbox.receive(paid('ORD-1', 500));
      await until(async () => (await inbox.stats()).states.unhandled === 1);
    });
    await until(async () => (await inbox.stats()).states.settled === 1);
    await stop();
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });
});

describe('the work on sqlite, which has one writer', () => {
  it('a handler that takes its time keeps no callback: it is spooled, and applied when the handler has ended', async () => {
    const merchant = await newMerchant('sqlite');
    const inbox = merchant.open({ storeTimeoutMs: 200 });
    const [isRunning, mayEnd] = [signal(), signal()];
    inbox.handle(async (transition) => {
      isRunning.give();
      await mayEnd.promise;
      await creditIn(merchant)(transition);
    });
    for (const reference of ['ORD-1', 'ORD-2', 'ORD-3']) await inbox.expect(money(reference));
    await inbox.receive(paid('ORD-1', 500));
    const stop = startWork(inbox);
    await isRunning.promise;
    // Each resolves while the handler runs, which ends only after them.
    for (const reference of ['ORD-2', 'ORD-3']) await inbox.receive(paid(reference, 500));
    expect(merchant.events.filter(({ name }) => name === 'callback.spooled')).toHaveLength(2);
    expect(await merchant.credits()).toEqual([]);
    mayEnd.give();
    await until(async () => (await inbox.stats()).states.settled === 3);
    await until(async () => (await inbox.stats()).spooled === 0);
    await stop();
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['ORD-1', 'ORD-2', 'ORD-3']);
  });
});
