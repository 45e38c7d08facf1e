import { ConfigurationError } from '@payment-service/core';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createInbox, postgres } from '../src/index.ts';
import { callback } from './support/callbacks.ts';
import { startChild } from './support/child-process.ts';
import { ENGINES, newMerchant } from './support/merchant.ts';

describe.each(ENGINES)('migrations on %s', (engine) => {
  it('ten processes that start at once set the tables up once', async () => {
    const merchant = await newMerchant(engine);
    const startAt = String(Date.now() + 3000);
    const [name = '', address = '', schema = '', placeholder = '$1'] = merchant.programArguments;
    const children = Array.from({ length: 10 }, () =>
      startChild('migrate.ts', [name, address, schema, placeholder, startAt]),
    );
    for (const { ended } of children) {
      const { code, output } = await ended;
      expect(output).toContain('ready 0');
      expect(code).toBe(0);
    }
    const rows = await merchant.query(`select version from ${merchant.table('migration')}`);
    expect(rows).toEqual([{ version: 1 }]);
  });

  it('tables of a newer version are refused', async () => {
    const merchant = await newMerchant(engine);
    await merchant.open().ready();
    await merchant.query(`insert into ${merchant.table('migration')} values (999, 0)`);
    await expect(merchant.open().ready()).rejects.toThrow(ConfigurationError);
    await expect(merchant.open().receive(callback())).rejects.toThrow(ConfigurationError);
  });

  it('what one process has kept is there for the next', async () => {
    const merchant = await newMerchant(engine);
    await merchant.open().receive(callback());
    expect(await merchant.open().list()).toMatchObject([{ state: 'pending', deliveries: 1 }]);
  });
});

describe('migrations on postgres', () => {
  it('a role without the right to create works on a schema that is up to date', async () => {
    const admin = new pg.Pool({ connectionString: inject('postgresUrl') });
    const role = `limited_${process.pid}`;
    const schema = `${role}_inbox`;
    const owner = createInbox({ store: postgres(admin, { schema }) });
    await owner.ready();
    await owner.close();
    await admin.query(
      `create role ${role} login password 'limited';
       grant usage on schema ${schema} to ${role};
       grant select, insert, update, delete on all tables in schema ${schema} to ${role}`,
    );
    const url = new URL(inject('postgresUrl'));
    url.username = role;
    url.password = 'limited';
    const pool = new pg.Pool({ connectionString: url.href });
    const inbox = createInbox({ store: postgres(pool, { schema }) });
    onTestFinished(async () => {
      await inbox.close();
      await pool.end();
      await admin.query(`drop schema ${schema} cascade; drop role ${role}`);
      await admin.end();
    });
    await inbox.receive(callback());
    expect(await inbox.list()).toHaveLength(1);
    await expect(pool.query('create schema not_allowed')).rejects.toThrow(/permission denied/);
    await admin.query(`insert into ${schema}.migration values (999, 0)`);
    const older = createInbox({ store: postgres(pool, { schema }) });
    await expect(older.ready()).rejects.toThrow(/newer version/);
    await older.close();
  });

  it("is not disturbed by the merchant's own parsers", async () => {
    const types = { getTypeParser: () => () => 'something else' };
    const pool = new pg.Pool({ connectionString: inject('postgresUrl'), types });
    const schema = `parsers_${process.pid}`;
    const inbox = createInbox({ store: postgres(pool, { schema }) });
    onTestFinished(async () => {
      await inbox.close();
      await pool.query(`drop schema ${schema} cascade`);
      await pool.end();
    });
    await inbox.receive(callback());
    expect(await inbox.list()).toMatchObject([{ transitionId: callback().transitionId, deliveries: 1 }]);
    expect((await inbox.stats()).states.pending).toBe(1);
  });
});
