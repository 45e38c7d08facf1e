import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { runCommand } from '../support/command.ts';
import { limitedRole } from '../support/limited-role.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { poolShop } from '../support/pool-shop.ts';
import { ORDER, order } from '../support/shop.ts';
import { startWork, until, workOff } from '../support/until.ts';

test.each([
  ['001.postgres', '1d072010fd40f3352b49c32d9027f1a35005107d6288a1ba782ac4abb09f8754'],
  ['001.sqlite', '35c0baf5ff9c05734b7d9761faf2ed7259edde758c5c9f363c016b7b0515ed6c'],
])('the migration %s is as it was released', (name, released) => {
  const text = readFileSync(join(import.meta.dirname, `../../sql/migrations/${name}.sql`), 'utf8');
  const message = `sql/migrations/${name}.sql has changed: databases exist that it made. Leave it as it was, and add a new migration instead.`;
  expect(hash('sha256', text), message).toBe(released);
});

test.each(ENGINES)(
  'inboxes that start concurrently, on connections that have found no tables, set them up once, on %s',
  async (engine) => {
    const merchant = await newMerchant(engine, 'without tables');
    const inboxes = Array.from({ length: 8 }, () => merchant.open({ store: merchant.newStore() }));
    await Promise.all(inboxes.map((inbox) => inbox.ready()));
    const rows = await merchant.query(`select version, compatible_with from ${merchant.table('migration')}`);
    expect(rows).toEqual([{ version: 1, compatible_with: 1 }]);
  },
);

describe.each(ENGINES)('a newer version that changes the tables under a running program on %s', (engine) => {
  const migrated = async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ random: () => 0 });
    await order(inbox, 'ORD-1');
    const migrate = (): Promise<unknown> =>
      merchant.query(`insert into ${merchant.table('migration')} values (2, 2, 0)`);
    return { merchant, inbox, migrate };
  };

  test('is detected by health(), and then nothing is stored, neither in the database nor in the spool', async () => {
    const { merchant, inbox, migrate } = await migrated();
    await migrate();
    expect(await inbox.health()).toMatchObject({ ok: false, spooled: 0 });
    const refusal = { name: 'ConfigurationError', option: 'store' };
    await expect(inbox.receive(paid('B', 500))).rejects.toMatchObject(refusal);
    expect(await inbox.list()).toHaveLength(1);
    const error = { message: expect.stringMatching(/Update this program/) };
    expect(merchant.problems).toMatchObject([{ kind: 'tables_changed', error }]);
    expect(await inbox.health()).toMatchObject({ ok: false, spooled: 0 });
    await expect(inbox.expect(ORDER)).rejects.toThrow(ConfigurationError);
  });

  test('stops the worker, which resumes when the change is undone', async () => {
    const { merchant, inbox, migrate } = await migrated();
    const runs: string[] = [];
    inbox.handle(({ signed }) => void runs.push(signed.merchant_reference));
    await merchant.advance(-600_000);
    const stop = startWork(inbox);
    await migrate();
    await until(() => merchant.problems.length > 0);
    const pauses = (): number => merchant.events.filter(({ name }) => name === 'store.unavailable').length;
    const twoPauses = (before = pauses()): Promise<void> => until(() => pauses() > before + 1);
    // A statement from before the worker noticed the change may still be under way.
    await twoPauses();
    await merchant.advance(600_000);
    await twoPauses();
    expect(runs).toEqual([]);
    await merchant.query(`delete from ${merchant.table('migration')} where version = 2`);
    await until(() => runs.length > 0);
    await stop();
    expect(merchant.problems).toMatchObject([{ kind: 'tables_changed' }]);
  });
});

test('tables that a DBA creates from the output of sql, which has inbox.migrations(), let a role with its grants receive, expect and work', async () => {
  const { inbox: given, direct, schema } = poolShop();
  const { stdout } = await runCommand(['sql', '--schema', schema]);
  for (const { sql } of given.migrations()) expect(stdout).toContain(sql);
  const rights = 'select, insert, update, delete';
  expect(stdout).toContain(`-- grant ${rights} on all tables in schema ${schema} to <role>;`);
  await direct.query(stdout);
  const made = await tablesOf(direct, schema);
  expect(made.length).toBeGreaterThan(40);
  const role = await limitedRole(schema, rights);
  const { inbox, pool } = poolShop({ schema, pool: role });
  for (const sql of ['create schema not_allowed', `create table ${schema}.not_allowed ()`])
    await expect(pool.query(sql)).rejects.toThrow(/permission denied/);
  inbox.handle(() => undefined);
  await inbox.ready();
  await order(inbox, 'ORD-1');
  await workOff(inbox);
  expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  expect(await inbox.health()).toMatchObject({ ok: true });
  // They are the same as those that the inbox creates itself.
  const { inbox: own, schema: other } = poolShop();
  await own.ready();
  for (const each of [schema, other]) expect(await tablesOf(direct, each)).toEqual(made);
});

async function tablesOf(pool: pg.Pool, schema: string): Promise<unknown[]> {
  const columns = `select table_name, column_name, data_type, is_nullable, column_default
    from information_schema.columns where table_schema = $1 order by 1, 2`;
  const indexes = `select replace(indexdef, schemaname || '.', '') as index from pg_indexes where schemaname = $1 order by 1`;
  const found = [await pool.query(columns, [schema]), await pool.query(indexes, [schema])];
  return found.flatMap(({ rows }) => rows);
}
