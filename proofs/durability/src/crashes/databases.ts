import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { EFFECT_TABLE, type Read, type Remains, readEffects, readRemains } from '../history/remains.ts';

/** The location of the inbox and the merchant's own tables, passed to every process as JSON. */
export type Database =
  | { readonly store: 'postgres'; readonly url: string }
  | {
      readonly store: 'sqlite';
      readonly path: string;
      /** The path of a second file, which a handler can write to while the inbox holds the write lock of the first. */
      readonly outsidePath: string;
    };

/** The database of a run as the test itself sees it: not through the inbox, but with plain statements. */
export interface TestDatabase {
  readonly database: Database;
  /** The prefix of the inbox's tables. */
  readonly prefix: string;
  readonly read: Read;
  /** At the end. */
  remains(): Promise<Remains>;
  /** Kills the server; undefined if the database has no server. */
  readonly kill: ((what: 'postmaster' | 'everything') => Promise<void>) | undefined;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A session whose server was killed may take longer than this to report it. */
const ANSWER_MS = 3000;

/** The number of transitions that match a condition; undefined while the server is unavailable. */
export async function countTransitions(
  { read, prefix }: TestDatabase,
  condition: string,
): Promise<number | undefined> {
  const counted = read(`select count(*) as n from ${prefix}transition where ${condition}`).then(
    ([row]) => Number(row?.['n']),
    () => undefined,
  );
  return Promise.race([counted, wait(ANSWER_MS, undefined, { ref: false })]);
}

/** A separate PostgreSQL server with its defaults: every commit is on disk before it is confirmed. */
export async function postgresDatabase(isolation?: string): Promise<TestDatabase> {
  const { url, kill, restart, ...server } = await startPostgres();
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    // A session of a killed server may never respond.
    connectionTimeoutMillis: 5000,
    query_timeout: 60_000,
  });
  pool.on('error', () => undefined);
  await pool.query(EFFECT_TABLE);
  if (isolation !== undefined) {
    const level = pg.escapeLiteral(isolation.replace('-', ' '));
    await pool.query(
      `alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation = ${level}`,
    );
  }
  const prefix = 'payment_inbox.';
  const read: Read = async (statement) => (await pool.query(statement)).rows;
  return {
    database: { store: 'postgres', url },
    ...{ prefix, read, kill, restart },
    remains: () => readRemains(read, prefix),
    async stop() {
      // A session that silently lost its server is never returned to the pool.
      await Promise.race([pool.end(), wait(ANSWER_MS, undefined, { ref: false })]);
      await server.stop();
    },
  };
}

/** One file that all processes share. There is no server, so killing the processes is killing the database. */
export function sqliteDatabase(folder: string, isControl: boolean): TestDatabase {
  const [path, outsidePath] = [join(folder, 'shop.db'), join(folder, 'outside.db')];
  const opened = (one: string): DatabaseSync => {
    const file = new DatabaseSync(one, { timeout: 10_000 });
    file.exec(`pragma journal_mode = wal; pragma synchronous = full; ${EFFECT_TABLE}`);
    return file;
  };
  const [file, outside] = [opened(path), opened(outsidePath)];
  const prefix = 'payment_inbox_';
  const read: Read = async (statement) => file.prepare(statement).all();
  return {
    database: { store: 'sqlite', path, outsidePath },
    ...{ prefix, read, kill: undefined },
    async remains() {
      const remains = await readRemains(read, prefix);
      const readOutside: Read = async (statement) => outside.prepare(statement).all();
      return isControl ? { ...remains, effects: await readEffects(readOutside) } : remains;
    },
    restart: async () => undefined,
    async stop() {
      file.close();
      outside.close();
    },
  };
}
