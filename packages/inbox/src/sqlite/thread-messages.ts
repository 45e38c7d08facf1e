import type { Parking, ParkingOutcome } from '../parking.ts';
import type { SqlValue } from '../session.ts';
import type { Settlement } from '../settlement.ts';
import type { IntakeOutcome } from '../store.ts';
import type { PackedRecords } from './packed-records.ts';

/** What SQLite stores and gives: integers beyond 2^53 only as bigint, and only to be bound. */
export type SqliteValue = SqlValue | bigint;

/** By position for `?`, by name for `$name`, `:name` and `@name`. */
export type SqliteValues = readonly SqliteValue[] | Readonly<Record<string, SqliteValue>>;

export interface SqliteResult {
  readonly rows: readonly Readonly<Record<string, SqlValue>>[];
  /** Rows given or changed. */
  readonly rowCount: number;
}

export interface OpenRequest {
  readonly kind: 'open';
  readonly path: string;
  /** How long to wait for another process that writes, in milliseconds. */
  readonly waitMs: number;
  /** Which file it has to be, where one was opened before. */
  readonly identity?: string | undefined;
}

/** What a thread that owns a connection can be asked for. */
export type ThreadRequest =
  | OpenRequest
  | { readonly kind: 'migrate'; readonly now: number }
  | { readonly kind: 'query'; readonly text: string; readonly values: SqliteValues }
  | { readonly kind: 'begin' }
  | { readonly kind: 'commit' }
  | { readonly kind: 'rollback' }
  | { readonly kind: 'claim'; readonly account: string; readonly now: number }
  | { readonly kind: 'settle'; readonly settlement: Settlement }
  | { readonly kind: 'park'; readonly parking: Parking }
  | { readonly kind: 'startHandler'; readonly transitionId: Uint8Array }
  | { readonly kind: 'receive'; readonly account: string; readonly records: PackedRecords }
  | { readonly kind: 'close' };

export interface ThreadReplies {
  /** Which file it is. */
  readonly open: string | undefined;
  readonly migrate: undefined;
  readonly query: SqliteResult;
  readonly begin: undefined;
  readonly commit: undefined;
  readonly rollback: undefined;
  readonly claim: Uint8Array | undefined;
  readonly settle: boolean;
  readonly park: ParkingOutcome;
  readonly startHandler: undefined;
  readonly receive: readonly IntakeOutcome[];
  readonly close: undefined;
}

export interface ThreadMessage {
  readonly id: number;
  readonly request: ThreadRequest;
}

export type ThreadReply =
  | { readonly id: number; readonly value: ThreadReplies[keyof ThreadReplies] }
  | { readonly id: number; readonly failure: ThreadFailure };

/** An error in a form that survives the way between threads. */
export interface ThreadFailure {
  readonly name: string;
  readonly message: string;
  /** SQLite's result code, such as 5 for busy. */
  readonly errcode: number | undefined;
  /** Set for a misconfiguration: the option to look at. */
  readonly option: string | undefined;
  /** Whether a transaction is open after it: some failures of a statement end the whole transaction. */
  readonly isInTransaction: boolean;
}
