import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { newDueShop } from '../support/shop.ts';
import { pause, signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

describe.each(ENGINES)('handlers on %s', (engine) => {
  it('what a failing handler did is undone, and done once by the attempt that succeeds', async () => {
    const { merchant, inbox } = await newDueShop(engine);
    const attempts: number[] = [];
    inbox.handle(async ({ tx, signed, settled, attempt }) => {
      attempts.push(attempt);
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      if (attempt < 3) throw new Error('not yet');
    });
    for (let round = 0; round < 3; round += 1) {
      await workOff(inbox);
      await merchant.clock.advance(60_000);
    }
    expect(attempts).toEqual([1, 2, 3]);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('waits longer after every failure, and is dead after the last attempt', async () => {
    const { merchant, inbox } = await newDueShop(engine, {
      retry: { attempts: 4, firstDelayMs: 1000, longestDelayMs: 3000 },
    });
    inbox.handle(() => {
      throw new TypeError(`no such order\0${'x'.repeat(900)}`);
    });
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 1 }]);
    const [first] = await inbox.list();
    expect((first?.nextAt?.getTime() ?? 0) - merchant.clock.now()).toBe(1000);
    await merchant.clock.advance(999);
    await workOff(inbox);
    expect((await inbox.list())[0]?.attempts).toBe(1);
    for (const delay of [1, 2000, 3000]) {
      await merchant.clock.advance(delay);
      await workOff(inbox);
    }
    const [dead] = await inbox.list();
    expect(dead).toMatchObject({ state: 'dead', reason: 'attempts_used_up', attempts: 4 });
    expect(dead?.lastError).toMatch(/^TypeError: no such order\uFFFDx+$/);
    expect(dead?.lastError).toHaveLength(500);
    const delays = merchant.events.flatMap((event) =>
      event.name === 'transition.retrying' ? [event.delayMs] : [],
    );
    expect(delays).toEqual([1000, 2000, 3000]);
    await merchant.clock.advance(10_000_000);
    await workOff(inbox);
    expect((await inbox.list())[0]?.attempts).toBe(4);
  });

  it('the wait is jittered between half and all of the delay', async () => {
    const { merchant, inbox } = await newDueShop(engine, { random: () => 0 });
    inbox.handle(() => Promise.reject(new Error('no')));
    await workOff(inbox);
    const [retrying] = await inbox.list();
    expect((retrying?.nextAt?.getTime() ?? 0) - merchant.clock.now()).toBe(500);
  });

  it('a handler that does not end fails when its time is over, and its transaction is of no use to it then', async () => {
    const { merchant, inbox } = await newDueShop(engine, { handlerTimeoutMs: 150 });
    const [isLate, mayGoOn] = [signal(), signal()];
    let late: unknown;
    inbox.handle(async ({ tx, signed, settled, attempt }) => {
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      if (attempt > 1) return;
      await mayGoOn.promise;
      late = await merchant.credit(tx, 'late', '1').catch((error: unknown) => error);
      isLate.give();
    });
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 1 }]);
    expect((await inbox.list())[0]?.lastError).toContain('handlerTimeoutMs');
    mayGoOn.give();
    await isLate.promise;
    expect(late).toBeInstanceOf(ConfigurationError);
    await merchant.clock.advance(60_000);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('stops gracefully: no further transition is taken, and the running handler ends', async () => {
    const { merchant, inbox } = await newDueShop(engine);
    for (const reference of ['ORD-2', 'ORD-3', 'ORD-4', 'ORD-5', 'ORD-6']) {
      await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500 });
      await inbox.receive(paid(reference, 500));
    }
    const [isRunning, mayEnd] = [signal(), signal()];
    inbox.handle(async ({ tx, signed, settled }) => {
      isRunning.give();
      await mayEnd.promise;
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
    });
    const stop = startWork(inbox, { concurrency: 1 });
    await isRunning.promise;
    const stopped = stop();
    await pause(50);
    mayEnd.give();
    await stopped;
    expect(await merchant.credits()).toHaveLength(1);
    expect((await inbox.stats()).states).toMatchObject({ settled: 1, pending: 5 });
    expect(merchant.events.at(-1)).toEqual({ name: 'worker.stopped' });
  });

  it('close() ends work as gracefully', async () => {
    const { merchant, inbox } = await newDueShop(engine);
    const [isRunning, mayEnd] = [signal(), signal()];
    inbox.handle(async ({ tx, signed, settled }) => {
      isRunning.give();
      await mayEnd.promise;
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
    });
    const working = inbox.work({ signal: new AbortController().signal });
    await isRunning.promise;
    const closed = inbox.close();
    await pause(20);
    mayEnd.give();
    await closed;
    await working;
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('a handler that kills its process is stopped after three starts, and takes nothing with it', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ now: Date.now });
    const references = ['POISON', 'ORD-1', 'ORD-2', 'ORD-3', 'ORD-4', 'ORD-5'];
    for (const reference of references) {
      await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500 });
      await inbox.receive(paid(reference, 500));
    }
    for (let start = 1; start <= 3; start += 1) {
      const { signal: ending, output } = await startChild('poisoned-worker.ts', merchant.programArguments)
        .ended;
      expect(ending, output).toBe('SIGKILL');
    }
    const fourth = startChild('poisoned-worker.ts', merchant.programArguments);
    await until(async () => {
      const { states } = await inbox.stats();
      return states.quarantined === 1 && states.settled === 5;
    });
    fourth.kill('SIGTERM');
    expect(await fourth.ended).toMatchObject({ code: 0 });
    expect(await inbox.list({ state: 'quarantined' })).toMatchObject([
      { reason: 'crash_loop', signed: { merchant_reference: 'POISON' } },
    ]);
    expect(await merchant.credits()).toHaveLength(5);
  });

  it('refuses a second handler, work without one, and work twice', async () => {
    const { inbox } = await newDueShop(engine);
    const { signal: forever } = new AbortController();
    await expect(inbox.work({ signal: forever })).rejects.toThrow(ConfigurationError);
    inbox.handle(() => undefined);
    expect(() => inbox.handle(() => undefined)).toThrow(ConfigurationError);
    const stop = startWork(inbox);
    await expect(inbox.work({ signal: forever })).rejects.toThrow(ConfigurationError);
    await stop();
  });
});
