import type { ContenderId } from './contender.ts';
import type { Way } from './measure.ts';

/** A lower bound for the callbacks a second of one contender over those of another. */
export interface Target {
  readonly way: Way;
  readonly contender: ContenderId;
  readonly over: ContenderId;
  readonly atLeast: number;
}

/** docs/inbox-benchmark.md says why these. */
export const TARGETS: readonly Target[] = [
  { way: 'store', contender: 'inboxPostgres', over: 'groupedPostgres', atLeast: 0.8 },
  { way: 'store', contender: 'inboxSqlite', over: 'groupedSqlite', atLeast: 0.8 },
  { way: 'http', contender: 'inboxPostgres', over: 'pgBoss', atLeast: 1 },
  { way: 'http', contender: 'inboxSqlite', over: 'pgBoss', atLeast: 1 },
];
