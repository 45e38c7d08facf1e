import type pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { checkExpectation } from '../src/expectation.ts';
import { postgres } from '../src/index.ts';
import { Connections } from '../src/postgres/connections.ts';
import { paid } from './support/callbacks.ts';
import { poolShop } from './support/pool-shop.ts';
import { ORDER } from './support/shop.ts';
import { pause, until } from './support/until.ts';
import { startWork } from './support/working.ts';

/** The server's limits are a part of it shorter: long enough that no machine stands still for the difference. */
const PATIENCE_MS = 10_000;

it('the server gives a transaction of the inbox up before its caller does, and the connection stays', async () => {
  const { inbox, pool, schema, lock } = poolShop({ max: 1 });
  await inbox.ready();
  await lock('transition', 'access exclusive');
  const before = await backendOf(pool);
  const connections = new Connections(pool);
  const count = `select count(*) from ${schema}.transition`;
  const waiting = connections.transaction(PATIENCE_MS, (session) => session.query(count));
  await expect(waiting).rejects.toMatchObject({ code: '55P03' });
  const sleeping = connections.transaction(PATIENCE_MS, (session) => session.query('select pg_sleep(30)'));
  await expect(sleeping).rejects.toMatchObject({ code: '57014' });
  expect(await backendOf(pool)).toEqual(before);
});

it('an expectation that its caller was told is not kept is not kept later', async () => {
  const { inbox, pool, schema } = poolShop();
  await inbox.expect(ORDER);
  const holder = await pool.connect();
  onTestFinished(() => holder.release(true));
  await holder.query('begin');
  await inbox.expect(ORDER, { tx: holder });
  const engine = postgres(pool, { schema }).open({
    storeTimeoutMs: PATIENCE_MS,
    handlerTimeoutMs: PATIENCE_MS,
    spool: undefined,
    now: Date.now,
    onConnectionLost: () => undefined,
  });
  const other = checkExpectation({ ...ORDER, amount: '999' }, '');
  const given = engine.transaction(
    (session) => engine.expectIn(session, other, { account: '', now: Date.now() }),
    PATIENCE_MS,
  );
  await expect(given).rejects.toMatchObject({ code: '55P03' });
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%${schema}.expect%'`;
  expect((await pool.query(waiting)).rows).toEqual([]);
  await holder.query('commit');
  expect((await pool.query(`select amount from ${schema}.expectation`)).rows).toEqual([{ amount: '500' }]);
});

it('every call that writes outside the intake has limits on the server, below the minute that it may take', async () => {
  let now = Date.now();
  const { inbox, pool, schema } = poolShop({}, { now: () => now });
  await inbox.receive(paid('ORD-1', 500));
  await pool.query(
    `create table ${schema}.seen (written text, name text, ms integer);
     create function ${schema}.look() returns trigger language plpgsql as $$ begin
       insert into ${schema}.seen select tg_table_name, name, setting::integer from pg_settings
       where name in ('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout');
       return new;
     end $$;
     create trigger look after insert on ${schema}.expectation for each row execute function ${schema}.look();
     create trigger look after update on ${schema}.transition for each row execute function ${schema}.look();
     create trigger look after update on ${schema}.body for each row execute function ${schema}.look()`,
  );
  await inbox.resolve(paid('ORD-1', 500).transitionId, { note: 'seen' });
  await inbox.expect(ORDER);
  now += 100 * 86_400_000;
  expect(await inbox.prune()).toEqual({ bodies: 1 });
  const limited = await pool.query(
    `select written, count(distinct name)::integer as limits from ${schema}.seen
     where ms between 1 and 60000 group by written order by written`,
  );
  expect(limited.rows).toEqual(
    ['body', 'expectation', 'transition'].map((written) => ({ written, limits: 3 })),
  );
  expect((await pool.query(`select 1 from ${schema}.seen where ms not between 1 and 60000`)).rows).toEqual(
    [],
  );
});

it('health() keeps no connection after it has answered', async () => {
  const { inbox, pool, lock } = poolShop({ max: 2, connectionTimeoutMillis: 5000 }, { storeTimeoutMs: 100 });
  await inbox.ready();
  const unlock = await lock('transition', 'access exclusive');
  for (let check = 0; check < 4; check += 1) {
    expect(await inbox.health()).toMatchObject({ ok: false, problems: ['store_unavailable'] });
  }
  expect((await pool.query('select 1 as free')).rows).toEqual([{ free: 1 }]);
  await unlock();
  await until(async () => (await inbox.health()).ok);
});

it('what an idle worker asks has limits on the server as well', async () => {
  const { inbox, events, lock } = poolShop({}, { storeTimeoutMs: 200, handlerTimeoutMs: PATIENCE_MS });
  inbox.handle(() => undefined);
  await inbox.ready();
  const stop = startWork(inbox, { concurrency: 1 });
  await pause(100);
  const unlock = await lock('transition', 'access exclusive');
  await until(() => events.some(({ name }) => name === 'store.unavailable'));
  await unlock();
  await stop();
  expect(events.find(({ name }) => name === 'store.unavailable')).toMatchObject({ failure: '55P03' });
});

async function backendOf(pool: pg.Pool): Promise<unknown> {
  const { rows } = await pool.query('select pg_backend_pid() as id');
  return rows[0]?.id;
}
