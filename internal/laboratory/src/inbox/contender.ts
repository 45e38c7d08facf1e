import type { VerifiedCallback } from '@payment-service/core';

/** Something that keeps a callback durably. */
export interface Contender {
  /** Resolves when the callback is on disk. */
  keep(callback: VerifiedCallback): Promise<unknown>;
  /** How many it has kept, read back from where it keeps them. */
  count(): Promise<number>;
  close(): Promise<void>;
}

/** Where a contender finds its engine. */
export interface Engines {
  /** A PostgreSQL server as it comes, with fsync and synchronous_commit on. */
  readonly postgresUrl: string;
  /** A folder on a disk. */
  readonly folder: string;
  /** A Redis server with appendonly yes and appendfsync always; undefined where there is none. */
  readonly redisPort: number | undefined;
}

interface ContenderKind {
  readonly name: string;
  readonly engine: 'postgres' | 'sqlite' | 'redis';
  /** What is called for each callback. */
  readonly call: string;
}

export type ContenderId =
  | `${'inbox' | 'floor' | 'grouped' | 'lazy'}${'Postgres' | 'Sqlite'}`
  | 'pgBoss'
  | 'bullmq';

/**
 * The inbox on both engines, the floors that it is held against, the queues that a team would take instead, and for the
 * count of syncs two that answer before anything is on disk.
 */
export const CONTENDERS: Readonly<Record<ContenderId, ContenderKind>> = {
  inboxPostgres: { name: 'inbox, postgres', engine: 'postgres', call: 'inbox.receive' },
  floorPostgres: floor('postgres', 'floor', 'pg: the same rows, one prepared statement and one commit each'),
  groupedPostgres: floor(
    'postgres',
    'grouped floor',
    'pg: the same rows, up to 64 in one statement and commit',
  ),
  pgBoss: { name: 'pg-boss', engine: 'postgres', call: 'boss.send' },
  inboxSqlite: { name: 'inbox, sqlite', engine: 'sqlite', call: 'inbox.receive' },
  floorSqlite: floor('sqlite', 'floor', 'node:sqlite: the same rows, one transaction each'),
  groupedSqlite: floor(
    'sqlite',
    'grouped floor',
    'node:sqlite: the same rows, all that wait in one transaction',
  ),
  bullmq: { name: 'bullmq', engine: 'redis', call: 'queue.add, appendfsync always' },
  lazyPostgres: floor('postgres', 'control', 'pg with synchronous_commit = off'),
  lazySqlite: floor('sqlite', 'control', 'node:sqlite with synchronous = NORMAL'),
};

function floor(engine: ContenderKind['engine'], name: string, call: string): ContenderKind {
  return { name: `${name}, ${engine}`, engine, call };
}

/** Those of the benchmark: durable, all of them. */
export const BENCHED: readonly ContenderId[] = (Object.keys(CONTENDERS) as ContenderId[]).filter(
  (id) => !id.startsWith('lazy'),
);
