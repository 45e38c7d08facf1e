import type { Remains } from '../history/postgres-remains.ts';
import type { Database } from './database.ts';

/** The database of a run, as the test itself sees it: past the inbox, with plain statements. */
export interface TestDatabase {
  readonly database: Database;
  /** Kills the server; undefined where the processes are the database. */
  readonly kill: ((what: 'postmaster' | 'everything') => Promise<void>) | undefined;
  readonly restart: () => Promise<void>;
  /** Transitions that are due and wait for a worker; undefined while the server is unavailable. */
  due(): Promise<number | undefined>;
  /** Transitions that a worker will still attempt, now or later; undefined while the server is unavailable. */
  open(): Promise<number | undefined>;
  /** At the end. */
  remains(): Promise<Remains>;
  stop(): Promise<void>;
}
