import type { Remains } from '../history/postgres-remains.ts';
import type { Database } from './database.ts';

/** The database of a run, as the test itself sees it: past the inbox, with plain statements. */
export interface TestDatabase {
  readonly database: Database;
  /** Kills the server; undefined where the processes are the database. */
  readonly kill: ((what: 'postmaster' | 'everything') => Promise<void>) | undefined;
  readonly restart: () => Promise<void>;
  /** Writes rows of its own: `full` when the disk refuses them, `gone` when there is no server. */
  fillUp(): Promise<'room' | 'full' | 'gone'>;
  /** Removes those rows, and starts the server again if it has ended. */
  revive(): Promise<void>;
  /** By how many milliseconds the server's clock is ahead; undefined where each process has its own. */
  readonly setClock: ((ms: number) => Promise<unknown>) | undefined;
  /** When the callbacks were kept, by the database's clock, in the order in which they were. */
  keptAt(): Promise<readonly number[]>;
  /** The latest time of that clock that a worker has noted. */
  seenAt(): Promise<number>;
  /** Transitions that are due and wait for a worker; undefined while the server is unavailable. */
  due(): Promise<number | undefined>;
  /** Transitions that a worker will still attempt, now or later; undefined while the server is unavailable. */
  open(): Promise<number | undefined>;
  /** At the end. */
  remains(): Promise<Remains>;
  stop(): Promise<void>;
}
