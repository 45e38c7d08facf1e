import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConfigurationError } from '@payment-service/core';
import { startPostgres } from '@payment-service/postgres-server';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createInbox, postgres, sqlite } from '../src/index.ts';
import { callback, SIGNING_KEY, signedText } from './support/callbacks.ts';
import { poolShop } from './support/pool-shop.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

describe('a database that would not keep what it acknowledges is refused', () => {
  it.each(['fsync', 'full_page_writes', 'synchronous_commit'])('postgres with %s = off', async (setting) => {
    const server = await startPostgres({ [setting]: 'off' });
    const pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => undefined);
    const inbox = createInbox({ store: postgres(pool) });
    onTestFinished(async () => {
      await inbox.close();
      await pool.end();
      await server.stop();
    });
    const refusal = await inbox.ready().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConfigurationError);
    expect(String(refusal)).toContain(`${setting} = off`);
    await expect(inbox.receive(callback())).rejects.toThrow(ConfigurationError);
  });

  it('postgres with synchronous_commit = off for the role or the connection', async () => {
    const url = new URL(inject('postgresUrl'));
    url.searchParams.set('options', '-c synchronous_commit=off');
    const pool = new pg.Pool({ connectionString: url.href });
    const inbox = createInbox({ store: postgres(pool, { schema: 'never_made' }) });
    onTestFinished(async () => {
      await inbox.close();
      await pool.end();
    });
    await expect(inbox.ready()).rejects.toThrow(ConfigurationError);
  });

  it.each([
    ['array_nulls', 'off'],
    ['default_transaction_isolation', 'repeatable read'],
    ['default_transaction_isolation', 'serializable'],
  ])('postgres with %s = %s, and taken with the options that the refusal names', async (setting, value) => {
    const database = `unfit_${randomBytes(8).toString('hex')}`;
    const url = new URL(inject('postgresUrl'));
    url.pathname = database;
    const admin = poolShop().pool;
    await admin.query(`create database ${database}`);
    await admin.query(`alter database ${database} set ${setting} = '${value}'`);
    const { inbox } = poolShop({ connectionString: url.href });
    const refusal = await inbox.ready().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConfigurationError);
    expect(String(refusal)).toContain(`${setting} = ${value}`);
    await expect(inbox.receive(callback())).rejects.toThrow(ConfigurationError);
    const [, options = ''] = /options: '([^']+)'/.exec(String(refusal)) ?? [];
    const fit = poolShop({ connectionString: url.href, options: options.replaceAll('\\\\', '\\') });
    await fit.inbox.receive(callback());
  });

  it('a connection that turns synchronous_commit off later is set right for each commit of the inbox', async () => {
    const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 1 });
    const schema = `later_off_${process.pid}`;
    const inbox = createInbox({ store: postgres(pool, { schema }) });
    onTestFinished(async () => {
      await inbox.close();
      await pool.query(`drop schema ${schema} cascade`);
      await pool.end();
    });
    await inbox.ready();
    await pool.query('set synchronous_commit = off');
    await pool.query(`create table ${schema}.seen (value text)`);
    await pool.query(
      `create function ${schema}.look() returns trigger language plpgsql as $$
         begin insert into ${schema}.seen values (current_setting('synchronous_commit')); return new; end $$`,
    );
    await pool.query(
      `create constraint trigger look after insert on ${schema}.transition deferrable initially deferred
         for each row execute function ${schema}.look()`,
    );
    await inbox.receive(callback());
    expect((await pool.query(`select value from ${schema}.seen`)).rows).toEqual([{ value: 'on' }]);
  });

  it.each([
    ':memory:',
    '',
    ' ',
    'file::memory:?cache=shared',
    'file:x.db?mode=memory',
    '\\\\host\\share\\x.db',
    '//host/x.db',
  ])('sqlite at %j', (path) => {
    expect(() => sqlite(path)).toThrow(ConfigurationError);
    expect(() => createInbox({ store: sqlite('x.db'), spool: path })).toThrow(ConfigurationError);
  });

  it('sqlite in a folder that does not exist', () => {
    expect(() => sqlite(join(temporaryFolder(), 'missing', 'x.db'))).toThrow(/does not exist/);
  });

  // Only Linux has one at a place that is known: elsewhere there is no such test, rather than a skipped one.
  const memories = process.platform === 'linux' ? ['/dev/shm'] : [];
  it.each(memories)('sqlite in memory that looks like a disk (%s)', (memory) => {
    const folder = mkdtempSync(join(memory, 'inbox-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(() => sqlite(join(folder, 'x.db'))).toThrow(/memory/);
  });

  it('sqlite: a folder in the place of the file, and a file that is no database', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'folder.db'));
    const inbox = createInbox({ store: sqlite(join(folder, 'folder.db')) });
    await expect(inbox.ready()).rejects.toThrow();
    await inbox.close();
  });

  it('sqlite runs with a write-ahead log, and the file stands in it for everybody', async () => {
    const path = join(temporaryFolder(), 'x.db');
    const inbox = createInbox({ store: sqlite(path) });
    await inbox.receive(callback());
    const other = new DatabaseSync(path);
    expect(other.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' });
    other.close();
    await inbox.close();
  });

  it('no error of the inbox holds a body, a header or a key', async () => {
    const pool = new pg.Pool({ connectionString: inject('postgresUrl') });
    const schema = `secrets_${process.pid}`;
    const inbox = createInbox({ store: postgres(pool, { schema }) });
    onTestFinished(async () => {
      await inbox.close();
      await pool.query(`drop schema ${schema} cascade`);
      await pool.end();
    });
    await inbox.ready();
    // PostgreSQL's own error for this quotes the whole row.
    await pool.query(`alter table ${schema}.body add constraint never check (length(body) < 3)`);
    const error = await inbox
      .receive(callback({ customer_name: 'SECRET' }))
      .catch((thrown: unknown) => thrown);
    const inspected = JSON.stringify([String(error), Object(error).stack, Object(error).cause, error]);
    expect(inspected).toContain('23514');
    const hex = Buffer.from('SECRET').toString('hex');
    for (const secret of ['SECRET', hex, SIGNING_KEY, signedText().signature, 'ORD-1001']) {
      expect(inspected).not.toContain(secret);
    }
  });
});
