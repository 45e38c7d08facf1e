import { ConfigurationError } from '@payment-service/core';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createInbox, type Inbox, postgres } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { type PoolShop, poolShop } from '../support/pool-shop.ts';
import { newShop, ORDER } from '../support/shop.ts';
import { pause, signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

describe('a handler on postgres', () => {
  it("gets the pool's own client, in the transaction that settles", async () => {
    const { inbox, pool, schema } = await dueShop();
    await pool.query(`create table ${schema}.credit (amount text)`);
    let given: unknown;
    inbox.handle(async ({ tx, settled }) => {
      given = tx;
      const query = {
        name: 'credit',
        text: `insert into ${schema}.credit values ($1)`,
        values: [settled.amount],
      };
      expect((await tx.query(query)).rowCount).toBe(1);
      // Another connection does not see it yet.
      expect((await pool.query(`select * from ${schema}.credit`)).rows).toEqual([]);
    });
    await workOff(inbox);
    expect(given).toBeInstanceOf(pg.Client);
    expect((await pool.query(`select * from ${schema}.credit`)).rows).toEqual([{ amount: '500' }]);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });

  it('that takes too long loses its connection: what it does later fails, and is not kept', async () => {
    const { inbox, pool, schema, events } = await dueShop({}, { handlerTimeoutMs: 2000 });
    await pool.query(`create table ${schema}.credit (run integer)`);
    const [tooLate, isOver] = [signal(), signal()];
    let late: unknown;
    let runs = 0;
    const backends: unknown[] = [];
    inbox.handle(async ({ tx }) => {
      runs += 1;
      const run = runs;
      backends.push((await tx.query('select pg_backend_pid() as id')).rows[0]?.id);
      await tx.query(`insert into ${schema}.credit values ($1)`, [run]);
      if (run > 1) return;
      await tooLate.promise;
      late = await tx.query(`insert into ${schema}.credit values (100)`).catch((error: unknown) => error);
      isOver.give();
    });
    const stop = startWork(inbox);
    await until(() => events.some(({ name }) => name === 'transition.retrying'));
    tooLate.give();
    await isOver.promise;
    expect(late).toBeInstanceOf(Error);
    await until(async () => (await inbox.list())[0]?.state === 'settled');
    await stop();
    expect((await pool.query(`select * from ${schema}.credit`)).rows).toEqual([{ run: 2 }]);
    const alive = 'select pid from pg_stat_activity where pid = any($1)';
    await until(async () => (await pool.query(alive, [[backends[0]]])).rows.length === 0);
  });

  it('waits for a lock as long as handlerLockTimeoutMs says, and is tried again', async () => {
    const { inbox, pool, schema, lock } = await dueShop({}, { handlerLockTimeoutMs: 100 });
    await pool.query(`create table ${schema}.credit (run integer)`);
    const unlock = await lock('credit', 'access exclusive');
    inbox.handle(({ tx, attempt }) => tx.query(`insert into ${schema}.credit values ($1)`, [attempt]));
    const stop = startWork(inbox);
    await until(async () => (await inbox.list())[0]?.state === 'retrying');
    expect(await inbox.list()).toMatchObject([{ lastError: expect.stringContaining('lock timeout') }]);
    await unlock();
    await until(async () => (await inbox.list())[0]?.state === 'settled');
    await stop();
  });

  it('whose connection is ended is retried with another one, and ends in no crash loop', async () => {
    const { inbox, pool, schema } = await dueShop({}, { retry: { firstDelayMs: 1 } });
    await pool.query(`create table ${schema}.credit (run integer)`);
    inbox.handle(async ({ tx, attempt }) => {
      await tx.query(`insert into ${schema}.credit values ($1)`, [attempt]);
      if (attempt > 5) return;
      const { rows } = await tx.query('select pg_backend_pid() as id');
      await pool.query('select pg_terminate_backend($1)', [rows[0]?.id]);
      await pause(20);
    });
    const stop = startWork(inbox);
    await until(async () => (await inbox.list())[0]?.state === 'settled');
    await stop();
    expect((await pool.query(`select * from ${schema}.credit`)).rows).toEqual([{ run: 6 }]);
  });
});

describe('transaction() on postgres', () => {
  it.each([
    ['by the body', new Error('no such customer')],
    ['by the commit', undefined],
  ])('a connection that is gone shows %s, and the next one works', async (_by, own) => {
    const { merchant, inbox } = await newShop('postgres');
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      const { rows } = await tx.query('select pg_backend_pid() as id');
      await merchant.query('select pg_terminate_backend($1)', [Number(rows[0]?.['id'])]);
      await pause(50);
      if (own !== undefined) throw own;
    });
    const thrown: unknown = await failed.catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Error);
    if (own !== undefined) expect(thrown).toBe(own);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toEqual([{ reference: 'next', amount: '1' }]);
  });

  it('keeps what is received inside it, whatever becomes of it', async () => {
    const { inbox } = await newShop('postgres');
    const failed = inbox.transaction(async (tx) => {
      await inbox.expect(ORDER, { tx });
      await inbox.receive(paid('ORD-1', 500));
      throw new Error('undo');
    });
    await expect(failed).rejects.toThrow('undo');
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ reason: 'no_expectation' }]);
  });

  it('a statement that failed fails the transaction, although the body went on', async () => {
    const { merchant, inbox } = await newShop('postgres');
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await tx.query('insert into no_such_table values (1)').catch(() => undefined);
    });
    await expect(failed).rejects.toMatchObject({ code: '25P02' });
    expect(await merchant.credits()).toEqual([]);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(1);
  });
});

describe('what another process keeps wakes a worker that looks once an hour', () => {
  it('at once', async () => {
    const { inbox, schema, stop } = await sleepingWorker();
    const child = startChild('receive.ts', [inject('postgresUrl'), schema]);
    expect(await child.ended).toMatchObject({ code: 0 });
    await until(async () => (await inbox.stats()).states.settled === 1);
    await stop();
  });

  it('also after the connection that listens was lost', async () => {
    const { inbox, pool, schema, stop } = await sleepingWorker();
    const listening =
      "select pid from pg_stat_activity where query = 'listen payment_inbox' and application_name = $1";
    const find = async (): Promise<unknown> => (await pool.query(listening, [schema])).rows[0]?.pid;
    await until(async () => (await find()) !== undefined);
    const lost = await find();
    await pool.query('select pg_terminate_backend($1)', [lost]);
    await until(async () => ![undefined, lost].includes((await find()) as undefined));
    const child = startChild('receive.ts', [inject('postgresUrl'), schema]);
    expect(await child.ended).toMatchObject({ code: 0 });
    await until(async () => (await inbox.stats()).states.settled === 1);
    await stop();
    await until(async () => (await find()) === undefined);
  });

  /** Idle: it has looked, and listens. */
  async function sleepingWorker(): Promise<PoolShop & { stop: () => Promise<void> }> {
    const name = `sleeping_${process.hrtime.bigint()}`;
    const shop = poolShop({ application_name: name });
    const inbox = createInbox({ store: postgres(shop.pool, { schema: name }) });
    onTestFinished(() => inbox.close());
    inbox.handle(() => undefined);
    await inbox.expect(ORDER);
    const abort = new AbortController();
    const working = inbox.work({ signal: abort.signal, pollMs: 3_600_000 });
    // It has looked at what is due, and found nothing.
    const looked = 'select 1 from pg_stat_activity where query like $1 and application_name = $2';
    const find = async (): Promise<boolean> =>
      (await shop.pool.query(looked, ['listen%', name])).rows.length === 1;
    await until(find);
    await pause(300);
    const stop = async (): Promise<void> => {
      abort.abort();
      await working;
    };
    return { ...shop, inbox, schema: name, stop };
  }
});

describe('the connections of a pool', () => {
  it.each([
    [4, 3],
    [3, 2],
    [2, 2],
    [1, 2],
  ])('a pool of %i is refused for %i handlers at a time', async (max, concurrency) => {
    const { inbox } = poolShop({ max });
    inbox.handle(() => undefined);
    const work = inbox.work({ signal: new AbortController().signal, concurrency });
    await expect(work).rejects.toThrow(ConfigurationError);
    await expect(work).rejects.toThrow(`a max of ${concurrency + 2}`);
  });

  it.each([1, 2, 3, 10])('a pool of %i settles what comes while a handler runs, or after it', async (max) => {
    const { inbox } = poolShop({ max });
    let runs = 0;
    inbox.handle(async () => {
      runs += 1;
      if (runs === 1 && max > 1) await inbox.receive(paid('ORD-2', 500));
    });
    for (const merchant_reference of ['ORD-1', 'ORD-2']) await inbox.expect({ ...ORDER, merchant_reference });
    await inbox.receive(paid('ORD-1', 500));
    const stop = startWork(inbox);
    if (max === 1) await inbox.receive(paid('ORD-2', 500));
    await until(async () => (await inbox.stats()).states.settled === 2);
    await stop();
  });

  it('three accounts share one store and its three connections, and all of them settle', async () => {
    const { pool, schema } = poolShop({ max: 3 });
    const store = postgres(pool, { schema });
    const accounts = ['A', 'B', 'C'];
    const inboxes = accounts.map((account): Inbox<pg.PoolClient> => {
      const inbox = createInbox({ store, account });
      inbox.handle(() => undefined);
      return inbox;
    });
    onTestFinished(async () => {
      for (const inbox of inboxes) await inbox.close();
    });
    const stops = inboxes.map((inbox) => startWork(inbox));
    for (const [index, inbox] of inboxes.entries()) {
      await inbox.expect(ORDER);
      await inbox.receive(paid('ORD-1', 500, {}, { account: accounts[index] }));
    }
    for (const inbox of inboxes) await until(async () => (await inbox.stats()).states.settled === 1);
    for (const stop of stops) await stop();
    expect(pool.totalCount).toBeLessThanOrEqual(3);
    await until(() => pool.idleCount === pool.totalCount);
  });
});

/** With a callback that is due and settles `ORDER`. */
async function dueShop(...options: Parameters<typeof poolShop>): Promise<PoolShop> {
  const shop = poolShop(...options);
  await shop.inbox.expect(ORDER);
  await shop.inbox.receive(paid('ORD-1', 500));
  return shop;
}
