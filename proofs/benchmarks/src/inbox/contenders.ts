import { join } from 'node:path';
import { startPgBoss } from '@payment-service/durability/load/queues.ts';
import { postgres, sqlite } from '@payment-service/inbox';
import pg from 'pg';
import {
  CONNECTIONS,
  type Contender,
  countBodies,
  countRows,
  openInbox,
  postgresFloor,
  sqliteFloor,
} from './floors.ts';

/** Where a contender finds its engine. */
export interface Engines {
  /** A PostgreSQL server with its defaults, so fsync and synchronous_commit are on. */
  readonly postgresUrl: string;
  /** A folder on a disk. */
  readonly folder: string;
}

interface ContenderKind {
  readonly engine: 'postgres' | 'sqlite';
  /** The function that is called for each callback. */
  readonly call: string;
  readonly open: (engines: Engines) => Promise<Contender>;
}

/**
 * The inbox on both engines, the floors that it is compared with, a queue that a team might use instead and, for the count of
 * syncs, one that responds before anything is on disk.
 */
export const CONTENDERS: Readonly<Record<string, ContenderKind>> = {
  'inbox, postgres': { engine: 'postgres', call: 'inbox.receive', open: inboxPostgres },
  'floor, postgres': {
    engine: 'postgres',
    call: 'pg: the same rows, one prepared statement and one commit each',
    open: ({ postgresUrl }) => postgresFloor(postgresUrl, 'floor'),
  },
  'pg-boss': { engine: 'postgres', call: 'boss.send', open: pgBoss },
  'inbox, sqlite': { engine: 'sqlite', call: 'inbox.receive', open: inboxSqlite },
  'floor, sqlite': {
    engine: 'sqlite',
    call: 'node:sqlite: the same rows, one transaction each',
    open: ({ folder }) => sqliteFloor(folder),
  },
  'control, postgres': {
    engine: 'postgres',
    call: 'pg with synchronous_commit = off',
    open: ({ postgresUrl }) => postgresFloor(postgresUrl, 'lazy', '-c synchronous_commit=off'),
  },
};

/** Those of the benchmark, all of them durable: the control responds before anything is on disk. */
export const BENCHED: readonly string[] = Object.keys(CONTENDERS).filter(
  (name) => !name.startsWith('control'),
);

async function inboxPostgres({ postgresUrl }: Engines): Promise<Contender> {
  const pool = new pg.Pool({ connectionString: postgresUrl, max: CONNECTIONS });
  const { route } = await openInbox(postgres(pool));
  return { keep: route.onCallback, count: () => countRows(pool, 'payment_inbox.body') };
}

async function inboxSqlite({ folder }: Engines): Promise<Contender> {
  const path = join(folder, 'inbox.db');
  const { route } = await openInbox(sqlite(path));
  return { keep: route.onCallback, count: async () => countBodies(path) };
}

async function pgBoss({ postgresUrl }: Engines): Promise<Contender> {
  const pool = new pg.Pool({ connectionString: postgresUrl });
  const boss = await startPgBoss(postgresUrl, 'callbacks', CONNECTIONS);
  return {
    keep: ({ signed, raw }) => boss.send('callbacks', { signed, body: raw }),
    count: () => countRows(pool, 'pgboss.job'),
  };
}
