import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConfigurationError } from '@payment-service/core';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createInbox, postgres, sqlite } from '../../src/index.ts';
import { callback, paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { limitedRole } from '../support/limited-role.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { ORDER } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/working.ts';

it.each([['001', 'ac2667a012c54efc8954e44d3cc763b14efd7f8a5968490f28832640c3ff8bad']])(
  'the migration %s is as it was released',
  (name, released) => {
    const text = readFileSync(join(import.meta.dirname, `../../sql/migrations/${name}.sql`), 'utf8');
    const message = `sql/migrations/${name}.sql has changed: databases exist that it made. Leave it as it was, and add a new migration instead.`;
    expect(hash('sha256', text), message).toBe(released);
  },
);

describe.each(ENGINES)('migrations on %s', (engine) => {
  it('ten processes that start at once set the tables up once', async () => {
    const merchant = await newMerchant(engine);
    const startAt = String(Date.now() + 3000);
    const [name = '', address = '', schema = '', placeholder = '$1'] = merchant.programArguments;
    const children = Array.from({ length: 10 }, () =>
      startChild('migrate.ts', [name, address, schema, placeholder, startAt]),
    );
    for (const { ended } of children) {
      expect(await ended).toMatchObject({ code: 0, output: expect.stringContaining('ready 0') });
    }
    const rows = await merchant.query(`select version, compatible_with from ${merchant.table('migration')}`);
    expect(rows).toEqual([{ version: 1, compatible_with: 1 }]);
  });

  it('inboxes that start at once on connections that have found no tables set them up once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const merchant = await newMerchant(engine);
      const inboxes = Array.from({ length: 8 }, () => merchant.open({ store: merchant.newStore() }));
      await Promise.all(inboxes.map((inbox) => inbox.ready()));
    }
  });

  it('a program works on after a newer one has migrated, and also starts, when its statements still fit', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    await inbox.ready();
    await merchant.query(`insert into ${merchant.table('migration')} values (2, 1, 0)`);
    await inbox.receive(paid('A', 500));
    await merchant.open().receive(paid('B', 500));
    expect(await merchant.open().list()).toHaveLength(2);
  });

  it('tables of a newer version that is not compatible are refused, and left alone', async () => {
    const merchant = await newMerchant(engine);
    await merchant.open().ready();
    await merchant.query(`insert into ${merchant.table('migration')} values (2, 2, 0)`);
    const inbox = merchant.open();
    await expect(inbox.ready()).rejects.toThrow(/newer version .* Update this program/);
    await expect(inbox.receive(callback())).rejects.toThrow(ConfigurationError);
    expect(await inbox.health()).toMatchObject({ ok: false, problems: ['store_unavailable'] });
    expect(await merchant.query(`select * from ${merchant.table('transition')}`)).toEqual([]);
  });
});

describe('tables that a DBA makes of inbox.migrations()', () => {
  it('on postgres: a role that may create nothing receives, expects and works', async () => {
    const schema = `dba_${randomBytes(6).toString('hex')}`;
    const owner = new pg.Pool({ connectionString: inject('postgresUrl') });
    onTestFinished(() => owner.end());
    const store = postgres(owner, { schema });
    const given = createInbox({ store }).migrations();
    expect(given.map(({ version }) => version)).toEqual([1]);
    for (const { sql } of given) await owner.query(sql);
    const made = await tablesOf(owner, schema);
    const { pool } = await limitedRole(schema, 'select, insert, update, delete');
    await expect(pool.query('create schema not_allowed')).rejects.toThrow(/permission denied/);
    await expect(pool.query(`create table ${schema}.not_allowed ()`)).rejects.toThrow(/permission denied/);
    const inbox = createInbox({ store: postgres(pool, { schema }) });
    onTestFinished(() => inbox.close());
    inbox.handle(() => undefined);
    await inbox.ready();
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
    expect(await inbox.health()).toMatchObject({ ok: true });
    expect(await tablesOf(owner, schema)).toEqual(made);
    // They are those that the inbox makes by itself.
    const own = createInbox({ store: postgres(owner, { schema: `${schema}_own` }) });
    await own.ready();
    expect(await tablesOf(owner, `${schema}_own`)).toEqual(made);
  });

  it('on sqlite: the program of the shell runs them', async () => {
    const path = join(temporaryFolder(), 'x.db');
    const inbox = createInbox({ store: sqlite(path) });
    onTestFinished(() => inbox.close());
    const file = new DatabaseSync(path);
    for (const { sql } of inbox.migrations()) file.exec(sql);
    const count = 'select count(*) as count from sqlite_schema';
    const made = file.prepare(count).get();
    await inbox.receive(callback());
    expect(file.prepare(count).get()).toEqual(made);
    expect(file.prepare('select version from payment_inbox_migration').all()).toHaveLength(1);
    file.close();
  });
});

async function tablesOf(pool: pg.Pool, schema: string): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
     where table_schema = $1 order by 1, 2`,
    [schema],
  );
  const indexes = await pool.query(
    "select replace(indexdef, schemaname || '.', '') as index from pg_indexes where schemaname = $1 order by 1",
    [schema],
  );
  expect(rows.length).toBeGreaterThan(40);
  return [...rows, ...indexes.rows];
}
