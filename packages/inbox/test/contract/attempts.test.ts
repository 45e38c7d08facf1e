import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { creditIn, LATER, MINUTE_MS, money, newDueShop } from '../support/shop.ts';
import { pause, signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

const { transitionId } = paid('ORD-1', 500);

describe.each(ENGINES)('attempts on %s', (engine) => {
  it('what a failing handler did is undone, and done once by the attempt that succeeds', async () => {
    const { merchant, inbox } = await newDueShop(engine, LATER);
    const attempts: number[] = [];
    inbox.handle(async (transition) => {
      attempts.push(transition.attempt);
      await creditIn(merchant)(transition);
      if (transition.attempt < 3) throw new Error('not yet');
    });
    for (let round = 0; round < 3; round += 1) {
      await workOff(inbox);
      expect(await merchant.credits()).toHaveLength(round < 2 ? 0 : 1);
      await merchant.clock.advance(2 * MINUTE_MS);
    }
    expect(attempts).toEqual([1, 2, 3]);
  });

  it('wait longer after every failure, not less than said, and end with dead', async () => {
    const { merchant, inbox } = await newDueShop(engine, {
      retry: { attempts: 4, firstDelayMs: 60_000, longestDelayMs: 180_000 },
    });
    inbox.handle(() => {
      throw new TypeError(`no such order\0${'x'.repeat(900)}`);
    });
    for (const [index, delay] of [60_000, 120_000, 180_000].entries()) {
      await workOff(inbox);
      const [retrying] = await inbox.list();
      expect(retrying).toMatchObject({ state: 'retrying', attempts: index + 1 });
      expect((retrying?.nextAt?.getTime() ?? 0) - (retrying?.changedAt.getTime() ?? 0)).toBe(delay);
      await merchant.clock.advance(delay / 2);
      await workOff(inbox);
      expect((await inbox.list())[0]?.attempts).toBe(index + 1);
      await merchant.clock.advance(delay / 2);
    }
    await workOff(inbox);
    const [dead] = await inbox.list();
    expect(dead).toMatchObject({ state: 'dead', reason: 'attempts_used_up', attempts: 4, nextAt: undefined });
    expect(dead?.lastError).toMatch(/^TypeError: no such order\uFFFDx+$/);
    expect(dead?.lastError).toHaveLength(500);
    const delays = merchant.events.flatMap((event) =>
      event.name === 'transition.retrying' ? [event.delayMs] : [],
    );
    expect(delays).toEqual([60_000, 120_000, 180_000]);
    expect(merchant.events).toContainEqual({
      name: 'transition.parked',
      transitionId,
      state: 'dead',
      reason: 'attempts_used_up',
    });
  });

  it('are jittered between half and all of the delay', async () => {
    const { merchant, inbox } = await newDueShop(engine, { ...LATER, random: () => 0 });
    inbox.handle(() => Promise.reject(new Error('no')));
    await workOff(inbox);
    expect(merchant.events).toContainEqual(expect.objectContaining({ delayMs: 30_000 }));
  });

  it('fail when their time is over, and their transaction is of no use to the handler then', async () => {
    const { merchant, inbox } = await newDueShop(engine, { ...LATER, handlerTimeoutMs: 150 });
    const [isLate, mayGoOn] = [signal(), signal()];
    let late: unknown;
    inbox.handle(async (transition) => {
      await creditIn(merchant)(transition);
      if (transition.attempt > 1) return;
      await mayGoOn.promise;
      late = await merchant.credit(transition.tx, 'late', '1').catch((error: unknown) => error);
      isLate.give();
    });
    await workOff(inbox);
    const lastError = expect.stringContaining('handlerTimeoutMs');
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 1, lastError }]);
    mayGoOn.give();
    await isLate.promise;
    expect(late).toBeInstanceOf(Error);
    expect(await merchant.credits()).toEqual([]);
    await merchant.clock.advance(MINUTE_MS);
    await until(async () => {
      await workOff(inbox);
      return (await merchant.credits()).length === 1;
    });
  });

  it.each(['the signal', 'close()'])(
    'end gracefully with %s: the running one ends, no further one begins',
    async (by) => {
      const { merchant, inbox } = await newDueShop(engine);
      for (const reference of ['ORD-2', 'ORD-3']) {
        await inbox.expect(money(reference));
        await inbox.receive(paid(reference, 500));
      }
      const [isRunning, mayEnd] = [signal(), signal()];
      inbox.handle(async (transition) => {
        isRunning.give();
        await mayEnd.promise;
        await creditIn(merchant)(transition);
      });
      const stop = startWork(inbox, { concurrency: 1 });
      await isRunning.promise;
      const stopped = by === 'close()' ? inbox.close() : stop();
      await pause(50);
      mayEnd.give();
      await stopped;
      expect(await merchant.credits()).toHaveLength(1);
      expect((await merchant.open().stats()).states).toMatchObject({ settled: 1, pending: 2 });
      expect(merchant.events).toContainEqual({ name: 'worker.stopped' });
      await stop();
    },
  );

  it('crash_loop: a handler that ended its process three times is not run again, and takes nothing with it', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    for (const reference of ['POISON', 'ORD-1', 'ORD-2', 'ORD-3', 'ORD-4', 'ORD-5']) {
      await inbox.expect(money(reference));
      await inbox.receive(paid(reference, 500));
    }
    const poison = paid('POISON', 500).transitionId;
    for (let start = 1; start <= 3; start += 1) {
      expect((await inbox.show(poison))?.state).toBe('pending');
      const { signal: ending, output } = await startChild('poisoned-worker.ts', merchant.programArguments)
        .ended;
      expect(ending, output).toBe('SIGKILL');
      await merchant.clock.advance(MINUTE_MS);
    }
    const fourth = startChild('poisoned-worker.ts', merchant.programArguments);
    await until(async () => {
      const { states } = await inbox.stats();
      return states.quarantined === 1 && states.settled === 5;
    });
    fourth.kill('SIGTERM');
    expect(await fourth.ended).toMatchObject({ code: 0 });
    expect(await inbox.show(poison)).toMatchObject({ state: 'quarantined', reason: 'crash_loop' });
    expect(await merchant.credits()).toHaveLength(5);
  });

  it('no crash_loop: a start that is committed, and whose answer is lost, is taken back', async () => {
    const merchant = await newMerchant(engine);
    const store = merchant.newStore();
    let lost = 0;
    const unreliable: typeof store = {
      ...store,
      async query(text, values, tx) {
        const rows = await store.query(text, values, tx);
        if (text.includes('unfinished = unfinished + 1') && lost < 5) {
          lost += 1;
          throw new Error('the connection was lost');
        }
        return rows;
      },
    };
    const inbox = merchant.open({ store: unreliable });
    inbox.handle(creditIn(merchant));
    await inbox.expect(money('ORD-1', 500));
    await inbox.receive(paid('ORD-1', 500));
    const stop = startWork(inbox);
    await until(async () => (await inbox.list())[0]?.state !== 'pending');
    await stop();
    expect(lost).toBe(5);
    expect(await inbox.list()).toMatchObject([{ state: 'settled', attempts: 1 }]);
  });

  it('no crash_loop: what fails in a process that lives on is tried again, as often as it takes', async () => {
    const { merchant, inbox } = await newDueShop(engine, LATER);
    inbox.handle(async (transition) => {
      await creditIn(merchant)(transition);
      const { tx, attempt } = transition;
      // The server ends the connection under it; SQLite has none to lose.
      if (attempt <= 5 && engine === 'postgres')
        await tx.query('select pg_terminate_backend(pg_backend_pid())');
      if (attempt <= 5) throw new Error('not yet');
    });
    for (let attempts = 1; attempts <= 5; attempts += 1) {
      await workOff(inbox);
      expect(await inbox.show(transitionId)).toMatchObject({
        state: 'retrying',
        reason: undefined,
        attempts,
      });
      await merchant.clock.advance(60 * MINUTE_MS);
    }
    await workOff(inbox);
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'settled', attempts: 6 });
    expect(await merchant.credits()).toHaveLength(1);
    expect(merchant.events.filter(({ name }) => name === 'transition.parked')).toEqual([]);
  });
});
