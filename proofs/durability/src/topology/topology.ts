import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startPostgres } from '@payment-service/servers/postgres';
import type { Read } from '../history/remains.ts';
import { withClient } from '../load/postgres.ts';
import { monotonicMs } from '../measure/measure.ts';
import { atTheEnd } from '../measure/program.ts';

/** The location of the inbox and the merchant's own table, passed to every process as JSON. */
export type Database =
  | { readonly store: 'postgres'; readonly url: string }
  | { readonly store: 'sqlite'; readonly path: string };

/**
 * What a run needs of the database below the merchant's programs: one file, a server, a pair of servers, or a cluster. It stops
 * with the run.
 */
export interface Topology {
  /** As the merchant's programs reach it. */
  readonly database: Database;
  /** Not through the inbox, but with plain statements on what leads. */
  readonly read: Read;
  /** What can strike the server that leads. Empty for a file, which has no server. */
  readonly faults: readonly string[];
  /**
   * Resolves when the server is gone or, where there are others, when another one leads.
   *
   * @returns when it was struck, on the clock of the history.
   */
  strike(fault: string): Promise<number>;
  /** Ends the fault. A server has then started again; a dead primary stays dead. */
  heal(): Promise<void>;
  /** Throws if the database cannot continue. */
  check?(): void;
}

/** Servers of which one leads, and the others follow. */
export interface Replicated extends Topology {
  /** Nothing reaches those that follow until the leader is struck. */
  holdReplication(): void;
  /** Resolves when all servers that the next fault needs follow the leader. */
  whole(): Promise<void>;
}

/** A separate PostgreSQL server with its defaults: every commit is on disk before it is confirmed. */
export async function postgresServer(isolation?: string): Promise<Topology> {
  const { url, kill, restart, stop } = await startPostgres();
  atTheEnd(stop);
  const read = reader(url);
  if (isolation !== undefined)
    await read(
      `alter database postgres set default_transaction_isolation = '${isolation.replaceAll(/[^a-z]/g, ' ')}'`,
    );
  return {
    database: { store: 'postgres', url },
    ...{ read, faults: ['postmaster', 'everything'], heal: restart },
    async strike(fault) {
      await kill(fault === 'postmaster' ? fault : 'everything');
      return monotonicMs();
    },
  };
}

/**
 * One file that all processes share. There is no server, so killing the processes is killing the database.
 *
 * @param isControl whether the merchant's table is in a second file, to which a handler can write while the inbox holds the
 * write lock of the first.
 */
export function sqliteFile(folder: string, isControl: boolean): Topology {
  const path = join(folder, 'shop.db');
  const file = openFile(isControl ? outsidePath(path) : path);
  atTheEnd(async () => file.close());
  if (isControl) file.exec(`attach '${path}' as shop`);
  return {
    database: { store: 'sqlite', path },
    read: async (statement) => file.prepare(statement).all(),
    faults: [],
    strike: async () => monotonicMs(),
    heal: async () => undefined,
  };
}

export function openFile(path: string): DatabaseSync {
  const file = new DatabaseSync(path, { timeout: 10_000 });
  file.exec('pragma journal_mode = wal; pragma synchronous = full');
  return file;
}

export function outsidePath(path: string): string {
  return `${path}-outside`;
}

/**
 * Reads over a new connection each time, since an old one may lead to a server that was killed. Its session may never respond,
 * so it waits a limited time.
 */
export function reader(url: string): Read {
  return (text) => withClient(url, async (client) => (await client.query(text)).rows, LIMITS);
}

const LIMITS = { connectionTimeoutMillis: 5000, query_timeout: 60_000 };
