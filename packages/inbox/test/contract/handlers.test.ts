import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import type { Inbox, InboxOptions } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import {
  type AnyTransaction,
  ENGINES,
  type EngineName,
  type Merchant,
  newMerchant,
} from '../support/merchant.ts';
import { pause, signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

describe.each(ENGINES)('handlers on %s', (engine) => {
  it('what a failing handler did is undone, and done once by the attempt that succeeds', async () => {
    const { merchant, inbox } = await shop(engine);
    const attempts: number[] = [];
    inbox.handle(async ({ tx, signed, settled, attempt }) => {
      attempts.push(attempt);
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      if (attempt < 3) throw new Error('not yet');
    });
    for (let round = 0; round < 3; round += 1) {
      await workOff(inbox, merchant.clock.now);
      merchant.clock.advance(60_000);
    }
    expect(attempts).toEqual([1, 2, 3]);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('waits longer after every failure, and is dead after the last attempt', async () => {
    const { merchant, inbox } = await shop(engine, {
      retry: { attempts: 4, firstDelayMs: 1000, longestDelayMs: 3000 },
    });
    inbox.handle(() => {
      throw new TypeError(`no such order\0${'x'.repeat(900)}`);
    });
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 1 }]);
    const [first] = await inbox.list();
    expect((first?.nextAt?.getTime() ?? 0) - merchant.clock.now()).toBe(1000);
    merchant.clock.advance(999);
    await workOff(inbox, merchant.clock.now);
    expect((await inbox.list())[0]?.attempts).toBe(1);
    for (const delay of [1, 2000, 3000]) {
      merchant.clock.advance(delay);
      await workOff(inbox, merchant.clock.now);
    }
    const [dead] = await inbox.list();
    expect(dead).toMatchObject({ state: 'dead', reason: 'attempts_used_up', attempts: 4 });
    expect(dead?.lastError).toMatch(/^TypeError: no such order\uFFFDx+$/);
    expect(dead?.lastError).toHaveLength(500);
    const delays = merchant.events.flatMap((event) =>
      event.name === 'transition.retrying' ? [event.delayMs] : [],
    );
    expect(delays).toEqual([1000, 2000, 3000]);
    merchant.clock.advance(10_000_000);
    await workOff(inbox, merchant.clock.now);
    expect((await inbox.list())[0]?.attempts).toBe(4);
  });

  it('the wait is jittered between half and all of the delay', async () => {
    const { merchant, inbox } = await shop(engine, { random: () => 0 });
    inbox.handle(() => Promise.reject(new Error('no')));
    await workOff(inbox, merchant.clock.now);
    const [retrying] = await inbox.list();
    expect((retrying?.nextAt?.getTime() ?? 0) - merchant.clock.now()).toBe(500);
  });

  it('a handler that does not end fails when its time is over, and its transaction is of no use to it then', async () => {
    const { merchant, inbox } = await shop(engine, { handlerTimeoutMs: 150 });
    const [isLate, mayGoOn] = [signal(), signal()];
    let late: unknown;
    inbox.handle(async ({ tx, signed, settled, attempt }) => {
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      if (attempt > 1) return;
      await mayGoOn.promise;
      late = await merchant.credit(tx, 'late', '1').catch((error: unknown) => error);
      isLate.give();
    });
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 1 }]);
    expect((await inbox.list())[0]?.lastError).toContain('handlerTimeoutMs');
    mayGoOn.give();
    await isLate.promise;
    expect(late).toBeInstanceOf(ConfigurationError);
    merchant.clock.advance(60_000);
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1', amount: '500' }]);
  });

  it('a transaction cannot be used after its handler has ended', async () => {
    const { merchant, inbox } = await shop(engine);
    let kept: AnyTransaction | undefined;
    inbox.handle(({ tx }) => {
      kept = tx;
    });
    await workOff(inbox, merchant.clock.now);
    await expect(kept?.query('select 1')).rejects.toThrow(ConfigurationError);
  });

  it.each([
    'commit',
    'COMMIT;',
    ' begin',
    'rollback',
    '-- a comment\n commit',
    '/* one */ /* two */ Rollback to x',
    ';;commit',
    'start transaction',
    'end',
    'abort',
    'savepoint x',
    'release x',
    "prepare transaction 'x'",
  ])('transaction control is refused: %j', async (text) => {
    const { merchant, inbox } = await shop(engine);
    const errors: unknown[] = [];
    inbox.handle(async ({ tx, signed, settled }) => {
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      errors.push(await tx.query(text).catch((error: unknown) => error));
      throw new Error('undo');
    });
    await workOff(inbox, merchant.clock.now);
    expect(errors[0]).toBeInstanceOf(ConfigurationError);
    expect(await merchant.credits()).toEqual([]);
  });

  it.each(["select 1; commit; insert into credit values ('x', '1')", 'select 1; select 2'])(
    'several statements in one text are refused: %j',
    async (text) => {
      const { merchant, inbox } = await shop(engine);
      let error: unknown;
      inbox.handle(async ({ tx }) => {
        error = await tx.query(text).catch((thrown: unknown) => thrown);
        throw new Error('undo');
      });
      await workOff(inbox, merchant.clock.now);
      expect(error).toBeInstanceOf(Error);
      expect(await merchant.credits()).toEqual([]);
    },
  );

  it('statements that a handler starts at once, or does not wait for, belong to its transaction', async () => {
    const { merchant, inbox } = await shop(engine);
    inbox.handle(async ({ tx, attempt }) => {
      const all = ['a', 'b', 'c'].map((reference) => merchant.credit(tx, reference, '1'));
      if (attempt === 1) {
        await Promise.all(all);
        throw new Error('undo');
      }
    });
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toEqual([]);
    merchant.clock.advance(60_000);
    await workOff(inbox, merchant.clock.now);
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual(['a', 'b', 'c']);
  });

  it('a statement that fails fails the attempt', async () => {
    const { merchant, inbox } = await shop(engine);
    inbox.handle(async ({ tx, signed, settled, attempt }) => {
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      if (attempt === 1) await tx.query('insert into no_such_table values (1)');
    });
    await workOff(inbox, merchant.clock.now);
    expect(await inbox.list()).toMatchObject([{ state: 'retrying', attempts: 1 }]);
    expect((await inbox.list())[0]?.lastError).toContain('no_such_table');
    merchant.clock.advance(60_000);
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('an effect that only the commit refuses counts as a failed attempt', async () => {
    const { merchant, inbox } = await shop(engine);
    await merchant.query('create table parent (id integer primary key)');
    await merchant.query(
      'create table child (id integer references parent (id) deferrable initially deferred)',
    );
    inbox.handle(async ({ tx, signed, settled, attempt }) => {
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
      if (attempt === 1) await tx.query('insert into child values (1)');
    });
    const stop = startWork(inbox);
    await until(async () => (await inbox.list())[0]?.state === 'retrying');
    await stop();
    expect(await merchant.credits()).toEqual([]);
    expect((await inbox.list())[0]).toMatchObject({
      attempts: 1,
      lastError: expect.stringMatching(/foreign key/i),
    });
    merchant.clock.advance(60_000);
    await workOff(inbox, merchant.clock.now);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('stops gracefully: no further transition is taken, and the running handler ends', async () => {
    const { merchant, inbox } = await shop(engine);
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
    const { merchant, inbox } = await shop(engine);
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
    const { inbox } = await shop(engine);
    const { signal: forever } = new AbortController();
    await expect(inbox.work({ signal: forever })).rejects.toThrow(ConfigurationError);
    inbox.handle(() => undefined);
    expect(() => inbox.handle(() => undefined)).toThrow(ConfigurationError);
    const stop = startWork(inbox);
    await expect(inbox.work({ signal: forever })).rejects.toThrow(ConfigurationError);
    await stop();
  });
});

describe.each(ENGINES)('inside a handler on %s', (engine) => {
  it('what could wait for the handler itself is refused at once', async () => {
    const { merchant, inbox } = await shop(engine);
    const errors: unknown[] = [];
    inbox.handle(async () => {
      const { transitionId } = paid('ORD-1', 500);
      const calls = [
        () => inbox.expect({ merchant_reference: 'ORD-2', currency: 'UGX', amount: 1 }),
        () => inbox.retry(transitionId),
        () => inbox.reopen(transitionId),
        () => inbox.resolve(transitionId, { note: 'closed' }),
      ];
      for (const call of calls) errors.push(await call().catch((error: unknown) => error));
      if (engine === 'postgres') return;
      // One writer, and it is the handler.
      for (const call of [() => inbox.receive(paid('ORD-2', 1)), () => inbox.prune()]) {
        errors.push(await call().catch((error: unknown) => error));
      }
    });
    await workOff(inbox, merchant.clock.now);
    expect(errors).toHaveLength(engine === 'postgres' ? 4 : 6);
    for (const error of errors) {
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({ option: 'tx' });
    }
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });
});

/** One transition is due, and its expectation is known. */
async function shop(
  engine: EngineName,
  options: Partial<InboxOptions<AnyTransaction>> = {},
): Promise<{ merchant: Merchant; inbox: Inbox<AnyTransaction> }> {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open(options);
  await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' });
  await inbox.receive(paid('ORD-1', 500));
  return { merchant, inbox };
}
