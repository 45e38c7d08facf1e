import type { Settings } from '../../options.ts';
import type { Statements } from '../../store/statements.ts';
import { numberOf, type Row, type Store, textOf } from '../../store/store.ts';
import type { CaseFile } from '../../verdict/case-file.ts';
import type { Handlers } from './handlers.ts';

export interface WorkContext<Tx> {
  readonly store: Store<Tx>;
  readonly statements: Statements<Tx>;
  readonly settings: Settings;
  readonly handlers: Handlers<Tx>;
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal;
  /** Called with what an attempt decides on, if it is traced. */
  readonly onCase?: (file: CaseFile) => void;
}

/** A due transition, as read from the index. */
export interface Due {
  readonly id: number;
  readonly transitionId: string;
  readonly nextAt: number;
  readonly subjectKey: string;
  /** The five signed strings as stored, which may not be JSON. */
  readonly signed: string;
  readonly attempts: number;
  /** Earlier starts without an outcome: its handler may crash the process. */
  readonly unfinished: number;
  /** Read before its turn: see `find_newest`. */
  readonly isNewest?: boolean;
}

export function dueIn(row: Row): Due {
  return {
    id: numberOf(row, 'id'),
    transitionId: textOf(row, 'transition_id'),
    nextAt: numberOf(row, 'next_at'),
    subjectKey: textOf(row, 'subject_key'),
    signed: textOf(row, 'signed'),
    attempts: numberOf(row, 'attempts'),
    unfinished: numberOf(row, 'unfinished'),
  };
}

/** A start that is committed. */
export interface Start {
  /** Distinguishes it from the starts of other workers, and its transaction from others (threat A51). */
  readonly startId: string;
  /** The error of the previous attempt. */
  readonly lastError: string | undefined;
}

/** How an attempt is linked with the previous and the next one. */
export interface Turn {
  /** Its start, if the transaction that settled another transition has committed it. */
  readonly start?: Start | undefined;
  /** Takes the transition whose start is committed together with the settlement of this one. */
  takeNext?(): Due | undefined;
}

/** `attempts` is the number of this one. */
export type Started = Due &
  Start & {
    /** What is known about it, once that was read. */
    read?: Pick<CaseFile, 'signed' | 'isNeeded'>;
    /** The number of the transaction in which its handler has begun, on PostgreSQL. */
    transaction?: string | undefined;
    /** What remains when it is settled, or parked: if the reply of COMMIT is lost, it is told when the outcome is known. */
    settled?: Afterwards;
    parked?: Afterwards;
    /** The transition that its settlement starts. */
    next?: (Due & Pick<Start, 'startId'>) | undefined;
  };

/**
 * The outcome of an attempt. `undone`: it was taken back because another worker has the reference or the transition changed;
 * `overtaken`: another process was faster, and it did not start.
 */
export type Outcome = 'settled' | 'parked' | 'retrying' | 'undone' | 'overtaken';

export interface Ended {
  readonly outcome: Outcome;
  /** The committed start of the next transition. */
  readonly begun?: Start | undefined;
}

/** The work that remains after the transaction, called with the duration of the transaction. */
export type Afterwards = (durationMs: number) => Ended | Promise<Ended>;
