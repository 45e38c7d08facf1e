import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConfigurationError } from '@payment-service/core';
import { startPostgres } from '@payment-service/postgres-server';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createInbox, postgres, sqlite } from '../../src/index.ts';
import { callback, paid, SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { poolShop } from '../support/pool-shop.ts';
import { ORDER } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/working.ts';

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

  it.each(['repeatable read', 'serializable'])(
    'postgres with %s as its isolation works all the same',
    async (level) => {
      const { inbox, pool } = poolShop({
        options: `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`,
      });
      expect((await pool.query('show transaction_isolation')).rows).toEqual([
        { transaction_isolation: level },
      ]);
      let seen: unknown;
      inbox.handle(async ({ tx }) => {
        seen = (await tx.query('show transaction_isolation')).rows;
      });
      await inbox.expect(ORDER);
      await inbox.receive(paid('ORD-1', 500));
      await workOff(inbox);
      expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
      expect(seen).toEqual([{ transaction_isolation: 'read committed' }]);
    },
  );

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
    await pool.query(`alter table ${schema}.body add constraint never check (length(content) < 3)`);
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
