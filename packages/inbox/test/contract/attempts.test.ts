import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { creditIn, LATER, MINUTE_MS, newDueShop, order, shopOf } from '../support/shop.ts';
import { pause, signal, startWork, statesOf, workOff, workUntil } from '../support/until.ts';

const { transitionId } = paid('ORD-1', 500);

describe.each(ENGINES)('attempts on %s', (engine) => {
  test('each failure delays the next attempt longer, with jitter, until the transition is dead', async () => {
    const retry = { attempts: 5, firstDelayMs: 80_000, longestDelayMs: 400_000 };
    const { merchant, inbox, workLater } = await newDueShop(engine, { retry, random: () => 0.5 });
    inbox.handle('paid', () => {
      throw new TypeError(`no such order\0${'x'.repeat(900)}`);
    });
    await workOff(inbox);
    const delays = [60_000, 120_000, 240_000, 300_000];
    for (const [index, delay] of delays.entries()) {
      const [retrying] = await inbox.reports();
      expect(retrying).toMatchObject({ state: 'retrying', attempts: index + 1 });
      expect((retrying?.nextAt?.getTime() ?? 0) - (retrying?.changedAt.getTime() ?? 0)).toBe(delay);
      // It is not late.
      expect(await inbox.health()).toMatchObject({ ok: true, oldestDueSeconds: 0 });
      await workLater(delay / 2);
      expect((await inbox.reports())[0]?.attempts).toBe(index + 1);
      await workLater(delay / 2);
    }
    const lastError = expect.stringMatching(/^TypeError: no such order\uFFFDx{475}$/);
    const parked = { state: 'dead', reason: 'attempts_used_up' };
    expect(await inbox.reports()).toMatchObject([{ ...parked, attempts: 5, nextAt: undefined, lastError }]);
    const reported = merchant.events.flatMap((event) => ('delayMs' in event ? [event.delayMs] : []));
    expect(reported).toEqual(delays);
    expect(merchant.events).toContainEqual({ name: 'transition.parked', transitionId, ...parked });
  });

  test('show() lists the last 20 failed attempts of a transition with their errors, even after it has settled', async () => {
    const retry = { attempts: 30, firstDelayMs: 1, longestDelayMs: 1 };
    const { merchant, inbox, show } = await newDueShop(engine, { retry });
    inbox.handle('paid', async (transition) => {
      if (transition.attempt < 24) throw new Error(`failure ${transition.attempt}`);
      await creditIn(merchant)(transition);
    });
    while ((await show())?.failures.length !== 2) await inbox.drain({ limit: 1 });
    const failures = [1, 2].map((attempt) => ({ attempt, error: `Error: failure ${attempt}` }));
    expect((await show())?.failures).toMatchObject(
      failures.map((each) => ({ ...each, at: expect.any(Date) })),
    );
    await order(inbox, 'ORD-2');
    while ((await statesOf(inbox)).settled < 2) await inbox.drain();
    expect(await show()).toMatchObject({ state: 'settled', lastError: undefined });
    const last = Array.from({ length: 20 }, (_, index) => `Error: failure ${index + 4}`);
    for (const reference of ['ORD-1', 'ORD-2'])
      expect((await show(reference))?.failures.map(({ error }) => error)).toEqual(last);
  });

  test('a handler that exceeds its timeout fails, delays no other, and can no longer use its transaction', async () => {
    const { merchant, inbox, workLater } = await newDueShop(engine, { ...LATER, handlerTimeoutMs: 150 });
    const [isLate, mayGoOn] = [signal(), signal()];
    let late: unknown;
    inbox.handle('paid', async (transition) => {
      await creditIn(merchant)(transition);
      if (transition.attempt > 1) return;
      await mayGoOn.promise;
      late = await merchant.credit(transition.tx, 'late', '1').catch((error: unknown) => error);
      isLate.give();
    });
    await workOff(inbox);
    const lastError = 'TimedOut: The handler did not settle within handlerTimeoutMs.';
    expect(await inbox.reports()).toMatchObject([{ state: 'retrying', attempts: 1, lastError }]);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    mayGoOn.give();
    await isLate.promise;
    expect(late).toBeInstanceOf(Error);
    expect(await merchant.credits()).toEqual(['next 1']);
    // On a machine that stalls, a retry takes too long as well.
    while (!(await merchant.credits()).includes('ORD-1 500')) await workLater(60 * MINUTE_MS);
  });

  test.each(['the signal', 'close()'])(
    'work ends gracefully with %s: the running handler ends, no further one begins',
    async (by) => {
      const { merchant, inbox } = await newDueShop(engine);
      await order(inbox, 'ORD-2', 'ORD-3');
      const [isRunning, mayEnd] = [signal(), signal()];
      inbox.handle('paid', async (transition) => {
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
      expect(await statesOf(merchant.open())).toMatchObject({ settled: 1, pending: 2 });
      expect(merchant.events).toContainEqual({ name: 'worker.stopped' });
      await stop();
    },
  );

  test('crash_loop: a handler that ended its process three times is not run again, and affects no other transition', async () => {
    const merchant = await newMerchant(engine);
    const { inbox, deliver, show } = shopOf(merchant);
    await order(inbox, 'POISON');
    // As after the first two.
    await merchant.query(`update ${merchant.table('transition')} set unfinished = 2`);
    await order(inbox, 'ORD-1', 'ORD-2', 'ORD-3');
    const { ended } = startChild('poisoned-worker.ts', merchant.programArguments);
    expect(await ended).toMatchObject({ signal: 'SIGKILL' });
    expect(await show('POISON')).toMatchObject({ state: 'pending' });
    await merchant.advance(MINUTE_MS);
    inbox.handle('paid', creditIn(merchant));
    await workUntil(inbox, async () => {
      const states = await statesOf(inbox);
      return states.quarantined === 1 && states.settled === 3;
    });
    // Another body does not make it run either.
    await deliver(paid('POISON', 501));
    const parked = { state: 'quarantined', reason: 'crash_loop', nextAt: undefined };
    expect(await show('POISON')).toMatchObject(parked);
    expect(await merchant.credits()).toHaveLength(3);
    expect((await inbox.reports({ state: 'settled' })).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  });
});
