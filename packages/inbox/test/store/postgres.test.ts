import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { postgres } from '../../src/index.ts';
import { checkDurability, readDurability } from '../../src/store/postgres/durability.ts';
import { paid } from '../support/callbacks.ts';
import { poolShop } from '../support/pool-shop.ts';
import { poolerOf } from '../support/proxy.ts';
import { money, ORDER, order, REPLACE } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startWork, statesOf, until, untilDone, workUntil, workUntilSettled } from '../support/until.ts';

test('a handler waits for a lock as long as handlerLockTimeoutMs says, and is retried', async () => {
  const { inbox, schema, hold, newLedger } = poolShop({
    inbox: { handlerLockTimeoutMs: 100, retry: { firstDelayMs: 10 } },
  });
  const { credit } = await newLedger();
  await order(inbox, 'ORD-1');
  const unlock = await hold(`lock table ${schema}_credit in access exclusive mode`);
  inbox.handle('paid', credit);
  await workUntil(inbox, async () => (await inbox.reports())[0]?.state === 'retrying');
  expect(await inbox.reports()).toMatchObject([{ lastError: expect.stringContaining('lock timeout') }]);
  await unlock();
  await workUntilSettled(inbox, 1);
});

test('a worker that polls once an hour is woken by what another inbox keeps, also after its connection was lost', async () => {
  const schema = `sleeping_${process.hrtime.bigint()}`;
  // No connection is closed because it is idle.
  const { inbox, direct } = poolShop({ schema, pool: { application_name: schema, idleTimeoutMillis: 0 } });
  const { inbox: other } = poolShop({ schema });
  const listening = "select pid from pg_stat_activity where query like 'listen%' and application_name = $1";
  const find = async (): Promise<unknown> => (await direct.query(listening, [schema])).rows[0]?.pid;
  inbox.handle('paid', () => undefined);
  for (const reference of ['A', 'B']) await inbox.expect(money(reference));
  const worked = workUntilSettled(inbox, 2, { pollMs: 3_600_000 });
  let own: unknown;
  for (const reference of ['A', 'B']) {
    await until(async () => ![undefined, own].includes(await find()));
    own = await find();
    await other.route.onCallback(paid(reference, 500));
    await until(
      async () => (await other.reports({ state: 'settled', merchant_reference: reference })).length > 0,
    );
    await direct.query('select pg_terminate_backend($1)', [own]);
  }
  await worked;
  await until(async () => (await find()) === undefined);
});

test('other processes are notified of each single callback, and of a burst with few statements', async () => {
  const { pool, schema, open } = poolShop();
  const own = postgres(pool, { schema });
  let told = 0;
  const query: typeof own.query = async (...call) => {
    const rows = await own.query(...call);
    if (JSON.stringify(call).includes('pg_notify')) told += 1;
    return rows;
  };
  const inbox = open({ store: { ...own, query } });
  for (const count of [1, 2, 3]) {
    await inbox.route.onCallback(paid(`ORD-${count}`, 500));
    await until(() => told === count);
  }
  const many = Array.from({ length: 192 }, (_, index) => paid(`ORD-${index + 4}`, 500));
  await Promise.all(many.map((callback) => inbox.route.onCallback(callback)));
  await until(() => told > 3);
  expect(told).toBeLessThan(3 + 192 / 8);
});

test('a pool is refused for a handler too many, and one of a single connection settles what comes', async () => {
  for (const max of [4, 3, 2, 1]) {
    const concurrency = Math.max(2, max - 1);
    const { inbox } = poolShop({ pool: { max } });
    inbox.handle('paid', () => undefined);
    const work = inbox.work({ signal: new AbortController().signal, concurrency });
    const message = `The pool has connections for ${Math.max(1, max - 2)} handlers at the same time; for ${concurrency} it needs a max of ${concurrency + 2}: the inbox itself uses two. Raise its max, or lower concurrency.`;
    await expect(work).rejects.toMatchObject({ option: 'concurrency', message });
  }
  const { inbox } = poolShop({ pool: { max: 1 } });
  inbox.handle('paid', () => undefined);
  await order(inbox, 'ORD-1');
  const worked = workUntilSettled(inbox, 2);
  await order(inbox, 'ORD-2');
  await worked;
  // With three, one more may come from a handler.
  const { inbox: larger } = poolShop({ pool: { max: 3 } });
  larger.handle('paid', ({ signed }) =>
    signed.merchant_reference === 'ORD-1' ? order(larger, 'ORD-2') : undefined,
  );
  await order(larger, 'ORD-1');
  await workUntilSettled(larger, 2);
});

test('a pool of three connections serves the inboxes of three accounts', async () => {
  const { pool, schema, open } = poolShop({ pool: { max: 3 } });
  const store = postgres(pool, { schema });
  const inboxes = ['A', 'B', 'C'].map((account) => open({ store, account }));
  const stops = inboxes.map((inbox) => {
    inbox.handle('paid', () => undefined);
    return startWork(inbox);
  });
  for (const [index, inbox] of inboxes.entries()) {
    await inbox.expect(ORDER);
    await inbox.route.onCallback(paid('ORD-1', 500, {}, { account: 'ABC'[index] }));
  }
  for (const inbox of inboxes) await until(async () => (await statesOf(inbox)).settled === 1);
  for (const stop of stops) await stop();
  expect(pool.totalCount).toBeLessThanOrEqual(3);
  await until(() => pool.idleCount === pool.totalCount);
});

test('prune() skips a body that another transaction has locked, and removes its content the next time', async () => {
  const { inbox, pool, direct, schema, hold } = poolShop({ pool: { options: '-c lock_timeout=100' } });
  inbox.handle('paid', () => undefined);
  await order(inbox, 'HELD', 'FREE');
  await workUntilSettled(inbox, 2);
  await direct.query(`update ${schema}.body set first_at = 0`);
  const body = `transition = (select id from ${schema}.callback where transition_id = $1)`;
  const { transitionId } = paid('HELD', 500);
  const release = await hold(`select 1 from ${schema}.body where ${body} for update`, [transitionId]);
  expect(await inbox.prune()).toEqual({ bodies: 1, archived: 0 });
  // Control: a statement that does not skip it waits for it.
  const waiting = pool.query(`update ${schema}.body set content = null where ${body}`, [transitionId]);
  await expect(waiting).rejects.toMatchObject({ code: '55P03' });
  await release();
  expect(await inbox.prune()).toEqual({ bodies: 1, archived: 0 });
  expect(await inbox.prune()).toEqual({ bodies: 0, archived: 0 });
});

test('expect() that waits too long for the lock of another transaction says so, and does nothing', async () => {
  const { inbox, schema, hold } = poolShop({ inbox: { storeTimeoutMs: 300 } });
  await untilDone(() => inbox.expect(ORDER));
  const release = await hold(`select 1 from ${schema}.payment for update`);
  const replaced = { ...ORDER, amount: '700' };
  const waiting = inbox.expect(replaced, REPLACE);
  const message = expect.stringMatching(/gave up after 300 ms .*lock on the same reference/);
  await expect(waiting).rejects.toMatchObject({ message, code: expect.stringMatching(/57014|55P03/) });
  await release();
  expect(await inbox.payment('ORD-1')).toMatchObject({ expected: { amount: '500' } });
  await untilDone(() => inbox.expect(replaced, REPLACE));
});

test('transaction() rejects if a statement that its body did not wait for fails before COMMIT', async () => {
  const { inbox } = poolShop();
  const order = inbox.transaction(async (tx) => {
    await inbox.expect(ORDER, { tx });
    void tx.query('select 1').then(() => tx.query('select no_such_column').catch(() => undefined));
  });
  await expect(order).rejects.toMatchObject({ code: 'NOT_COMMITTED' });
  expect(await inbox.payment('ORD-1')).toBeUndefined();
});

const SOUND = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  encoding: 'UTF8',
  names: '',
};
const asked =
  (changes: object, standbys: number | string | Error = 0) =>
  async (text: string) => {
    if (!text.includes('pg_stat_replication')) return [{ ...SOUND, ...changes }];
    if (standbys instanceof Error) throw standbys;
    return [{ standbys }];
  };
const failing = (code: string): Error => Object.assign(new Error('no'), { severity: 'ERROR', code });

test('durability depends on the encoding', async () => {
  const refused = { option: 'store', message: expect.stringContaining('the encoding UTF8') };
  await expect(checkDurability(asked({ encoding: 'LATIN1' }))).rejects.toMatchObject(refused);
});

test('what a database with synchronous_commit off refuses is not spooled either, until that is fixed', async () => {
  const spool = join(temporaryFolder(), 'spool');
  const options = '-c synchronous_commit=off';
  const { inbox, pool } = poolShop({ pool: { max: 1, options }, inbox: { spool } });
  const refusal = { name: 'ConfigurationError', option: 'store', message: expect.stringContaining(' = off') };
  await expect(inbox.ready()).rejects.toMatchObject(refusal);
  await expect(inbox.route.onCallback(paid('A', 500))).rejects.toMatchObject(refusal);
  expect(await inbox.health()).toMatchObject({ ok: false, spooled: 0 });
  await pool.query('set synchronous_commit = on');
  await inbox.ready();
});

test.each([
  ['0', {}, false],
  ['2', {}, true],
  [1, { names: 'a' }, false],
  [1, { names: 'a', synchronous_commit: 'local' }, true],
  [0, { synchronous_commit: 'local' }, false],
])('durability depends on standbys: %j of them, with %j', async (standbys, changes, isAsynchronous) => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  await checkDurability(asked(changes, standbys));
  const { names, synchronous_commit: commit } = { ...SOUND, ...changes };
  const known = { off: [], encoding: 'UTF8', commit, synchronousNames: names, standbys: Number(standbys) };
  expect(await readDurability(asked(changes, standbys))).toEqual({ ...known, isAsynchronous });
  const text =
    'No standby of this PostgreSQL is synchronous. When the primary is lost and a standby takes over, callbacks acknowledged shortly before are lost. Name a standby in synchronous_standby_names, with synchronous_commit = on.';
  const warning = [text, { type: 'PaymentInboxWarning', code: 'ASYNCHRONOUS_STANDBY' }];
  expect(warn.mock.calls).toEqual(isAsynchronous ? [warning] : []);
});

test.each(['42501', '42P01', '42883', '0A000'])(
  'durability is not known of standbys after %s',
  async (code) => {
    const known = { standbys: 0, isAsynchronous: false };
    expect(await readDurability(asked({}, failing(code)))).toMatchObject(known);
    await expect(readDurability(asked({}, failing('22012')))).rejects.toMatchObject({ code: '22012' });
  },
);

test.each([
  ['SyncRepWaitForLSN', false],
  ['another (control)', true],
])('a commit that did not wait for its standby keeps nothing: %s', async (routine, isKept) => {
  const { inbox, pool } = poolShop();
  await inbox.ready();
  // Once the store listens: the server's response may arrive before a later turn of the event loop.
  pool.on('acquire', (client: NodeJS.EventEmitter) =>
    client.on('newListener', (event) => {
      if (event === 'notice') queueMicrotask(() => client.emit('notice', { routine }));
    }),
  );
  const kept = await inbox.route.onCallback(paid('A', 500)).then(
    () => true,
    ({ message }) => message,
  );
  const refused = expect.stringContaining('did not keep this callback (STANDBY_WAIT_CANCELLED)');
  expect(kept).toEqual(isKept ? true : refused);
});

const LIMITS = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'];
const NAMES = [...LIMITS, 'synchronous_commit', 'transaction_isolation', 'search_path'];
// A setting of an extension's form: unknown before it is set, and empty after the transaction.
const SETTINGS = `select ${NAMES.map((name) => `current_setting('${name}') as ${name}`).join(', ')},
  coalesce(current_setting('payment_inbox.attempt', true), '') as attempt, pg_backend_pid() as id`;
const MAX = 4;

/** The settings of all the pool's connections. */
async function settingsOf(pool: pg.Pool): Promise<Record<string, unknown>[]> {
  const clients = await Promise.all(Array.from({ length: MAX }, () => pool.connect()));
  const settings = clients.map((client) => client.query<Record<string, unknown>>(SETTINGS));
  const rows = (await Promise.all(settings)).flatMap((result) => result.rows);
  for (const client of clients) client.release();
  return rows;
}

test('a connection of the pool has its own settings restored after a payment, as behind a pooler', async () => {
  const options =
    '-c lock_timeout=1234 -c statement_timeout=54321 -c default_transaction_isolation=serializable';
  const { inbox, pool } = poolShop({ pool: { max: MAX, options }, inbox: { retry: { firstDelayMs: 1 } } });
  await inbox.ready();
  const before = await settingsOf(pool);
  const limits = { lock_timeout: '1234ms', statement_timeout: '54321ms', attempt: '' };
  const own = { ...limits, transaction_isolation: 'serializable' };
  expect(before[0]).toMatchObject(own);
  const inside: unknown[] = [];
  inbox.handle('paid', async ({ tx, attempt }) => {
    expect(tx).toBeInstanceOf(pg.Client);
    inside.push((await tx.query(SETTINGS)).rows[0]);
    if (attempt === 1) throw new Error('no');
  });
  await order(inbox, 'ORD-1');
  await inbox.route.onCallback(paid('ORD-1', 500));
  await workUntilSettled(inbox, 1);
  await inbox.health();
  // Control: inside it, they were different.
  const attempt = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const others = { lock_timeout: '10s', statement_timeout: '30s', transaction_isolation: 'serializable' };
  expect(inside[0]).toMatchObject({ ...others, attempt });
  const after = await settingsOf(pool);
  const known = after.filter((row) => before.some((one) => one['id'] === row['id']));
  // All but the one that has listened.
  expect(known.length).toBeGreaterThanOrEqual(MAX - 1);
  for (const settings of after) expect({ ...settings, id: 0 }).toEqual({ ...before[0], id: 0 });
});

test('on connections whose default is serializable, six receivers store the same callbacks concurrently', async () => {
  const { open } = poolShop({ pool: { max: 12, options: '-c default_transaction_isolation=serializable' } });
  const all = Array.from({ length: 6 }, () => open());
  for (const inbox of all) await inbox.ready();
  for (let round = 0; round < 5; round += 1) {
    const callbacks = Array.from({ length: 30 }, (_, index) => paid(`ORD-${round}-${index}`, 500));
    await Promise.all(all.flatMap((inbox) => callbacks.map((each) => inbox.route.onCallback(each))));
  }
});

test('behind a pooler without prepared statements, callbacks are stored without one', async () => {
  const names =
    "select name from pg_prepared_statements where name like 'payment_inbox_%' and statement like '%.callback %'";
  const { inbox, pool, schema } = poolShop({ pool: { max: 1 } });
  await inbox.route.onCallback(paid('A', 500));
  const { rows } = await pool.query<{ name: string }>(names);
  expect(rows).toHaveLength(2); // Control: alone, and in one message with NOTIFY.
  const prepareOthers = rows.map(({ name }) => `prepare ${name} as select 1`).join(';');
  await pool.query('deallocate all');
  await inbox.route.onCallback(paid('B', 500));
  await pool.query(prepareOthers); // This would fail if the inbox still used the names.
  await inbox.route.onCallback(paid('C', 500));
  const other = poolShop({ schema, pool: { max: 1 } });
  other.pool.on('connect', (client) => void client.query(prepareOthers));
  await other.inbox.route.onCallback(paid('D', 500));
  expect(await inbox.reports()).toHaveLength(4);
});

test.each([
  ['that names a process of its own, as a pooler does, does not listen', 1_000_000, false],
  ['that names the process of the server listens (control)', 0, true],
])('a worker behind a proxy %s, and finds what another process keeps', async (_, step, isListening) => {
  const schema = `pooled_${process.hrtime.bigint()}`;
  const pooler = await poolerOf(inject('postgresUrl'), step);
  const { inbox, pool } = poolShop({ schema, pool: { connectionString: pooler.url, max: 4 } });
  inbox.handle('paid', () => undefined);
  await inbox.expect(ORDER);
  const stop = startWork(inbox);
  let closed = 0;
  pool.on('release', (isClosed) => (closed += isClosed ? 1 : 0));
  await until(() => pooler.sent().includes('pg_backend_pid()'));
  await poolShop({ schema }).inbox.route.onCallback(paid('ORD-1', 500));
  await until(async () => (await statesOf(inbox)).settled === 1);
  await until(() => !isListening || pooler.sent().includes('listen payment_inbox'));
  await stop();
  expect(pooler.sent().includes('listen payment_inbox')).toBe(isListening);
  await until(() => pool.idleCount === pool.totalCount);
  expect(closed).toBe(isListening ? 1 : 0); // One that has listened is not lent again.
});
