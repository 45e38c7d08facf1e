import { createCallbackReceiver } from '@payment-service/core/receive';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { postgres } from '../../src/index.ts';
import { callback, post, SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { poolShop } from '../support/pool-shop.ts';
import { watchedStore } from '../support/store.ts';

// The cost of a request for the database, from the statistics of the inbox's only session.

const NOTHING = {
  statements: 0,
  /** Inserted, updated and deleted. */
  rows: 0,
  walRecords: 0,
  walBytes: 0,
  /** The most locks that a transaction held before its commit, except the one on its own id. */
  locks: 0,
};
const LOCKS = `select count(*)::int as locks from pg_locks
  where pid = $1 and locktype not in ('virtualxid', 'transactionid') and mode not in ('AccessShareLock')`;

/** An inbox behind a receiver, and the work of its only session for each request. */
async function watchedInbox() {
  const shop = poolShop({ pool: { max: 1 } });
  const { pool, direct, schema } = shop;
  const { rows: sessions } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = sessions[0]?.pid ?? 0;
  let [statements, locks] = [0, 0];
  const store = watchedStore<pg.PoolClient>(postgres(pool, { schema }), async (_text, run) => {
    statements++;
    const rows = await run();
    const held = await direct.query<{ locks: number }>(LOCKS, [pid]);
    locks = Math.max(locks, held.rows[0]?.locks ?? 0);
    return rows;
  });
  const inbox = shop.open({ store });
  await inbox.ready();
  const handlers = { onCallback: inbox.receive, onRefused: () => undefined };
  const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, ...handlers });
  const total = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await direct.query<Record<'rows' | 'walRecords' | 'walBytes', number>>(
      `select (select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) from pg_stat_user_tables where schemaname = $1)::int as rows,
         wal_records::int as "walRecords", wal_bytes::int as "walBytes" from pg_stat_get_backend_wal($2)`,
      [schema, pid],
    );
    return rows[0] ?? { rows: -1, walRecords: -1, walBytes: -1 };
  };
  return async (requests: readonly { signature: string; body: string }[]) => {
    const before = await total();
    [statements, locks] = [0, 0];
    for (const request of requests) await post(receiver, request);
    const own = { statements, locks };
    const { rows, walRecords, walBytes } = await total();
    const added = { rows: rows - before.rows, walRecords: walRecords - before.walRecords };
    return { ...own, ...added, walBytes: walBytes - before.walBytes };
  };
}

const genuine = signedText({ merchant_reference: 'ORD-1', internal_reference: 'INT-1' });
const changed = (name: string): string =>
  genuine.body.replace(new RegExp(`"${name}":"[^"]*"`), `"${name}":"x"`);

test('threat A18: forged requests hold no lock and write nothing; repetitions and other bodies write little', async () => {
  const spend = await watchedInbox();
  const forged = [
    ...Object.keys(callback().signed).map((name) => ({ ...genuine, body: changed(name) })),
    { ...genuine, signature: '' },
    { ...genuine, signature: `${genuine.signature}, ${genuine.signature}` },
    { ...genuine, signature: `t=1,s=${'0'.repeat(64)}` },
    { ...genuine, body: '{}' },
    { ...genuine, body: '['.repeat(60_000) },
    { ...genuine, body: `${genuine.body} `.repeat(2) },
    { ...genuine, body: genuine.body.replace('"event"', '"event":"x","event"') },
    { ...genuine, body: genuine.body.padEnd(65_537, ' ') },
  ];
  expect(await spend(forged)).toEqual(NOTHING);
  // Control: genuine requests are counted.
  const { rows, walRecords } = await spend([genuine]);
  expect([rows, walRecords >= 4]).toEqual([4, true]);
  const otherAmount = genuine.body.replace('"transaction_amount":500', '"transaction_amount":501');
  const repeated = await spend([genuine]);
  const other = await spend([{ ...genuine, body: otherAmount }]);
  expect([repeated.rows, other.rows]).toEqual([1, 2]);
  // Records rather than bytes, since the first change of a page after a checkpoint puts the whole page into the log.
  expect(repeated.walRecords).toBeLessThan(10);
  expect(other.walRecords).toBeLessThan(20);
  expect(repeated.locks).toBeLessThan(10);
  expect(other.locks).toBeLessThan(20);
});
