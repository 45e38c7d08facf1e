import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { columnsOf, VERSION } from '../../src/store/schema.ts';
import { Statements } from '../../src/store/statements.ts';
import { paid } from '../support/callbacks.ts';
import { commandOn, runCommand } from '../support/command.ts';
import { runDoctor } from '../support/doctor.ts';
import { limitedRole } from '../support/limited-role.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { poolShop } from '../support/pool-shop.ts';
import { ORDER, order } from '../support/shop.ts';
import { startWork, until, workOff } from '../support/until.ts';

/** By their digests: what a database was made by never changes. */
const RELEASED: Readonly<Record<string, string>> = {
  '001.postgres.sql': 'cf2dd3a8b59951ea00a6d2896ddce56f33fa632dc7c6f83c64b5c4f09ccdbee1',
  '001.sqlite.sql': 'e330ec517cfeaeb8dea6f01ace0d7bc089855d09f08c89d857256899d84d36ad',
};
const MIGRATIONS = join(import.meta.dirname, '../../sql/migrations');

test('every migration is as it was released', () => {
  const digests = readdirSync(MIGRATIONS).map((name) => {
    const text = readFileSync(join(MIGRATIONS, name), 'utf8');
    return [name, hash('sha256', text)];
  });
  const message =
    'A file of sql/migrations has changed, and databases exist that it made: leave it as it was, and add a new migration. Of a new one, add the digest here when it is released.';
  expect(Object.fromEntries(digests), message).toEqual(RELEASED);
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
    await expect(inbox.route.onCallback(paid('B', 500))).rejects.toMatchObject(refusal);
    expect(await inbox.reports()).toHaveLength(1);
    const error = { message: expect.stringMatching(/Update this program/) };
    expect(merchant.problems).toMatchObject([{ kind: 'tables_changed', error }]);
    expect(await inbox.health()).toMatchObject({ ok: false, spooled: 0 });
    await expect(inbox.expect(ORDER)).rejects.toThrow(ConfigurationError);
  });

  test('stops the worker, which resumes when the change is undone', async () => {
    const { merchant, inbox, migrate } = await migrated();
    const runs: string[] = [];
    inbox.handle('paid', ({ signed }) => void runs.push(signed.merchant_reference), { changesNothing: true });
    // A retry that is due later.
    const put = (ms: number): Promise<unknown> =>
      merchant.query(`update ${merchant.table('transition')} set attempts = 20, next_at = next_at + (${ms})`);
    await put(600_000);
    const stop = startWork(inbox);
    await migrate();
    await until(() => merchant.problems.length > 0);
    const pauses = (): number => merchant.events.filter(({ name }) => name === 'store.unavailable').length;
    const twoPauses = (before = pauses()): Promise<void> => until(() => pauses() > before + 1);
    // A statement from before the worker noticed the change may still be under way.
    await twoPauses();
    await put(-600_000);
    await twoPauses();
    expect(runs).toEqual([]);
    await merchant.query(`delete from ${merchant.table('migration')} where version = 2`);
    await until(() => runs.length > 0);
    await stop();
    expect(merchant.problems).toMatchObject([{ kind: 'tables_changed' }]);
  });
});

describe.each(ENGINES)('tables of another build that say the same version, on %s (threat A73)', (engine) => {
  test('are compared with every column that the migrations make', async () => {
    const { newStore } = await newMerchant(engine);
    const made = await new Statements(newStore()).run('list_columns', []);
    const types = new Map(made.map(({ name, type }) => [String(name), type]));
    expect(types).toEqual(columnsOf(engine, VERSION));
  });

  test('are refused by ready(), status and doctor, which name the difference, and nothing is kept in them', async () => {
    const merchant = await newMerchant(engine, 'without tables');
    await merchant.open().ready();
    const [callbacks, archive] = [merchant.table('callback'), merchant.table('archive')];
    // The control: a merchant may add columns and indexes.
    await merchant.query(`alter table ${callbacks} add column shop text`);
    await merchant.query(`create index own on ${callbacks} (shop)`);
    const before = merchant.open();
    await before.ready();
    // As two builds before the first release made them.
    if (engine === 'postgres') await merchant.query(`alter table ${archive} alter column kind type smallint`);
    else {
      const [made] = await merchant.query(`select sql from sqlite_schema where name = '${archive}'`);
      await merchant.query(`drop table ${archive}`);
      await merchant.query(String(made?.['sql']).replaceAll('reference text', 'reference blob'));
    }
    const difference =
      engine === 'postgres'
        ? 'archive.kind is "smallint not null", and this program needs "integer not null"'
        : 'archive.merchant_reference is "blob not null", and this program needs "text not null"';
    const message = expect.stringMatching(`${difference}. Another build`);
    const refusal = { name: 'ConfigurationError', option: 'store', message };
    const after = merchant.open();
    await expect(after.ready()).rejects.toMatchObject(refusal);
    await expect(after.route.onCallback(paid('ORD-1', 500))).rejects.toMatchObject(refusal);
    // Nor by a program that runs while they are exchanged.
    expect(await before.health()).toMatchObject({ ok: false });
    await expect(before.route.onCallback(paid('ORD-1', 500))).rejects.toMatchObject(refusal);
    expect(await merchant.query(`select id from ${callbacks}`)).toEqual([]);
    const { args, env } = commandOn(merchant);
    const status = await runCommand(['status', ...args], env);
    expect(status).toMatchObject({ code: 1, stderr: expect.stringMatching(difference) });
    const { names, seen } = await runDoctor(args, env);
    expect(names).toContain('problem tables');
    expect(seen).toMatch(difference);
    await merchant.query(`alter table ${merchant.table('transition')} drop column busy_until`);
    await expect(merchant.open().ready()).rejects.toThrow(/transition.busy_until is missing/);
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
  inbox.handle('paid', () => undefined, { changesNothing: true });
  await inbox.ready();
  await order(inbox, 'ORD-1');
  await workOff(inbox);
  expect(await inbox.reports()).toMatchObject([{ state: 'settled' }]);
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
