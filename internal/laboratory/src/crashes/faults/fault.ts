import type { Request } from '../../history/judge-history.ts';
import type { Result } from '../../measure/results.ts';
import type { Database, TestDatabase } from '../databases.ts';
import type { ManagedProcess } from '../managed-process.ts';

/** What befalls a run beside its kills. */
export interface Fault {
  /** The database as the merchant's programs reach it. @default as the test reaches it */
  readonly database?: Database;
  /** Of the merchant's programs. */
  readonly env?: NodeJS.ProcessEnv;
  /** The folder of the program of a receiver or worker, by its number. @default that of the crash test */
  readonly programs?: (index: number) => string;
  /** How often it strikes, spread over the kills. @default 0 */
  readonly times?: number;
  /** Between two kills, under load. */
  strike?(at: number): Promise<void>;
  /** Whether it really happened: a run without it proves nothing. */
  happened(seen: Seen): Promise<readonly Result[]>;
}

export interface Seen {
  readonly requests: readonly Request[];
  readonly receivers: readonly ManagedProcess[];
  readonly workers: readonly ManagedProcess[];
}

/** What a fault is made from. */
export interface FaultParts {
  readonly test: TestDatabase;
  /** Of the run, on a disk that is never full. */
  readonly folder: string;
  /** What `--other` names. */
  readonly other: string | undefined;
}

/** A window of time, in milliseconds of the monotonic clock. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Requests whose answer promised nothing, in windows of time. */
export function unanswered({ requests }: Seen, windows: readonly Window[]): number {
  const isIn = (time: number): boolean => windows.some(({ from, to }) => time >= from && time <= to);
  return requests.filter(({ answer, began }) => answer === 'none' && isIn(began)).length;
}
