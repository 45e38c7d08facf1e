import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '@payment-service/servers/postgres';
import type { Read } from '../history/remains.ts';
import { Link } from '../load/link.ts';
import { withClient } from '../load/postgres.ts';
import { monotonicMs } from '../measure/measure.ts';
import { atTheEnd, makeFolder } from '../measure/program.ts';

/** The location of the inbox and the merchant's own table, passed to every process as JSON. */
export type Database =
  | { readonly store: 'postgres'; readonly url: string }
  | { readonly store: 'sqlite'; readonly path: string };

/**
 * What a run needs from the database below the merchant's programs: one file, a server, a pair of servers, or a cluster. It stops
 * with the run.
 */
export interface Topology {
  /** As the merchant's programs reach it. */
  readonly database: Database;
  /** Runs plain statements on the server that leads, not through the inbox. */
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

const STALL_MS = 3000;

/** A separate PostgreSQL server with its defaults: every commit is on disk before it is confirmed. Its network can stall. */
export async function postgresServer(): Promise<Topology> {
  const { url, kill, restart, stop } = await startPostgres();
  atTheEnd(stop);
  const { link, url: throughLink } = await linkTo(url);
  let isStalled = false;
  return {
    database: { store: 'postgres', url: throughLink },
    read: reader(url),
    faults: ['postmaster', 'everything', 'stall'],
    async strike(fault) {
      isStalled = fault === 'stall';
      if (isStalled) link.hold();
      else await kill(fault === 'postmaster' ? fault : 'everything');
      return monotonicMs();
    },
    async heal() {
      if (!isStalled) return restart();
      await wait(STALL_MS);
      link.release();
    },
  };
}

/** A link to a server, and the server's address through it. */
export interface Linked {
  readonly link: Link;
  readonly url: string;
}

/** Closed with the run. */
export async function linkTo(url: string): Promise<Linked> {
  const own = new URL(url);
  const link = await Link.open(Number(own.port));
  atTheEnd(() => link.close());
  own.port = String(link.port);
  return { link, url: own.href };
}

/** One file that all processes share. There is no server, so killing the processes is killing the database. */
export async function sqliteFile(): Promise<Topology> {
  const path = join(await makeFolder(), 'shop.db');
  const file = new DatabaseSync(path, { timeout: 10_000 });
  atTheEnd(async () => file.close());
  file.exec('pragma journal_mode = wal');
  return {
    database: { store: 'sqlite', path },
    read: async (statement) => file.prepare(statement).all(),
    faults: [],
    strike: async () => monotonicMs(),
    heal: async () => undefined,
  };
}

/**
 * Reads over a new connection each time, since an old one may lead to a server that was killed. Its session may never respond,
 * so it waits a limited time.
 */
export function reader(url: string): Read {
  return (text) => withClient(url, async (client) => (await client.query(text)).rows, LIMITS);
}

const LIMITS = { connectionTimeoutMillis: 5000, query_timeout: 60_000 };
