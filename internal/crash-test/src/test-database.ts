import type { Database, Effect } from './database.ts';

/** The database of a run, as the test itself sees it: past the inbox, with plain statements. */
export interface TestDatabase {
  readonly database: Database;
  /** Kills the server; undefined where the processes are the database. */
  readonly kill: ((what: 'postmaster' | 'everything') => Promise<void>) | undefined;
  readonly restart: () => Promise<void>;
  /** Transitions that wait for a worker; undefined while the server is away. */
  pending(): Promise<number | undefined>;
  /** How many transitions are in each state, with the reason where there is one. */
  states(): Promise<Readonly<Record<string, number>>>;
  /** Every body that is kept, as in the sender's record. */
  stored(): Promise<ReadonlySet<string>>;
  effects(): Promise<readonly Effect[]>;
  /** Ids of transitions that a handler did not survive three times: for a person, whom the test plays. */
  crashLooped(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export const PENDING = `state in ('pending', 'retrying')`;
