import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgres, sqlite } from '../src/index.ts';
import type { Store } from '../src/store.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

describe('a store can be told from others while it is away', () => {
  it.each<[string, pg.PoolConfig]>([
    ['a connection string', { connectionString: 'postgres://app:secret@db1.invalid/shop' }],
    ['another server, another role', { connectionString: 'postgres://x:y@db2.invalid:6432/shop?ssl=true' }],
    ['options', { host: 'db1.invalid', database: 'shop' }],
    [
      'both, as pg takes them',
      { database: 'other', connectionString: 'postgres://app:secret@db1.invalid/shop' },
    ],
    ['the name of the user', { user: 'shop' }],
  ])('PostgreSQL, by the names of database and schema: %s', (_from, config) => {
    expect(identity(postgres(new pg.Pool(config), { schema: 'inbox' }))).toEqual([
      'postgres',
      'shop',
      'inbox',
    ]);
  });

  it('a pool that does not show its clients has no name of a database', () => {
    const pool = new pg.Pool({ database: 'shop' });
    const { options } = pool;
    const bare = {
      connect: pool.connect.bind(pool),
      on: pool.on.bind(pool),
      removeListener: pool.removeListener.bind(pool),
      options,
    };
    expect(identity(postgres(bare))).toEqual(['postgres', '', 'payment_inbox']);
  });

  it('a pool that can make no client is a misconfiguration, told without its password', () => {
    const pool = new pg.Pool({ connectionString: 'postgres://app:secret@[/shop' });
    const store = postgres(pool);
    expect(() => identity(store)).toThrow(ConfigurationError);
    expect(() => identity(store)).not.toThrow(/secret/);
  });

  it('SQLite, by the file, whatever link leads to it', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'shop.db');
    const before = identity(sqlite(path));
    writeFileSync(path, '');
    symlinkSync(path, join(folder, 'link.db'));
    symlinkSync(folder, join(folder, 'folder'));
    expect(identity(sqlite(path))).toEqual(before);
    expect(identity(sqlite(join(folder, 'link.db')))).toEqual(before);
    expect(identity(sqlite(join(folder, 'folder', 'shop.db')))).toEqual(before);
    expect(identity(sqlite(join(folder, 'other.db')))).not.toEqual(before);
  });
});

function identity<Tx>(store: Store<Tx>): readonly string[] {
  const options = { storeTimeoutMs: 1000, handlerTimeoutMs: 1000, spool: undefined };
  return store.open({ ...options, now: Date.now, onConnectionLost: () => undefined }).identity;
}
