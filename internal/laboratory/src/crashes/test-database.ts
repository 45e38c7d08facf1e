import { setTimeout as wait } from 'node:timers/promises';
import { OPEN, type Read, type Remains, readRemains } from '../history/remains.ts';
import type { Database } from './database.ts';

/** An engine, as the test itself sees it: past the inbox, with plain statements. */
export interface Engine {
  readonly database: Database;
  /** Of the inbox's tables. */
  readonly prefix: string;
  readonly read: Read;
  /** Reads effects that are outside the handler's transaction. @default as everything else */
  readonly readEffects?: Read | undefined;
  /** Kills the server; undefined where the processes are the database. */
  readonly kill: ((what: 'postmaster' | 'everything') => Promise<void>) | undefined;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The database of a run. */
export interface TestDatabase extends Engine {
  /** Transitions that are due and wait for a worker; undefined while the server is unavailable. */
  due(): Promise<number | undefined>;
  /** Transitions that a worker will still attempt, now or later; undefined while the server is unavailable. */
  open(): Promise<number | undefined>;
  /** At the end. */
  remains(): Promise<Remains>;
}

/** A session whose server was killed may take longer than this to say so. */
export const ANSWER_MS = 3000;

export function testDatabase(engine: Engine): TestDatabase {
  const { read, prefix, readEffects } = engine;
  const count = (condition: string): Promise<number | undefined> => {
    const counted = read(`select count(*) as n from ${prefix}transition where ${condition}`).then(
      ([row]) => Number(row?.['n']),
      () => undefined,
    );
    return Promise.race([counted, wait(ANSWER_MS, undefined, { ref: false })]);
  };
  return {
    ...engine,
    due: () => count(`${OPEN} and next_at <= ${Date.now()}`),
    open: () => count(OPEN),
    remains: () => readRemains(read, prefix, readEffects),
  };
}
