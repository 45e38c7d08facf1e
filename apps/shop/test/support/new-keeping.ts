import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { Keeping } from '../../src/config.ts';

export type Engine = 'sqlite' | 'postgres';

type Closing = (close: () => Promise<void>) => void;

/** An empty database for one test. */
export async function newKeeping(engine: Engine, closing: Closing = onTestFinished): Promise<Keeping> {
  return engine === 'sqlite'
    ? { file: join(temporaryFolder(closing), 'shop.sqlite') }
    : newPostgresDatabase();
}

/** Runs SQL independently of the shop, and returns the rows of a query. */
export async function execute(keeping: Keeping, text: string): Promise<unknown[]> {
  if ('file' in keeping) {
    const file = new DatabaseSync(keeping.file, { timeout: 10_000 });
    const isQuery = text.startsWith('select');
    if (!isQuery) file.exec(text);
    const rows = isQuery ? file.prepare(text).all() : [];
    file.close();
    return rows;
  }
  const client = new pg.Client({ connectionString: keeping.databaseUrl });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
}

const TMPFS = 0x01021994;

/** A folder on a disk, since the inbox refuses a file in memory. Removed when the test has finished. */
export function temporaryFolder(closing: Closing = onTestFinished): string {
  const isMemory = process.platform === 'linux' && statfsSync(tmpdir()).type === TMPFS;
  const folder = mkdtempSync(join(isMemory ? '/var/tmp' : tmpdir(), 'payment-service-shop-'));
  closing(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function newPostgresDatabase(): Promise<Keeping> {
  const name = `shop_${randomBytes(8).toString('hex')}`;
  const server = inject('postgresUrl');
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { databaseUrl: url.href };
}
