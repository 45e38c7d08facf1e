import type { Settings } from '../../options.ts';
import type { Statements } from '../../store/statements.ts';
import { numberOf, type Row, type Store, textOf } from '../../store/store.ts';
import type { CaseFile } from '../verdict/case.ts';
import type { Handlers } from './handlers.ts';

export interface WorkContext<Tx> {
  readonly store: Store<Tx>;
  readonly statements: Statements<Tx>;
  readonly settings: Settings;
  readonly handlers: Handlers<Tx>;
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal;
  /** Told what an attempt decides on, where it is traced. */
  readonly onCase?: (file: CaseFile) => void;
}

/** A due transition, as the index gives it. */
export interface Due {
  readonly id: number;
  readonly transitionId: string;
  readonly nextAt: number;
  readonly subjectKey: string;
  /** The five signed strings as they are stored, which may be no JSON. */
  readonly signed: string;
  readonly attempts: number;
  /** Earlier starts that no outcome followed: its handler may end the process. */
  readonly unfinished: number;
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
  /** Tells it from the starts of other workers, and its transaction from others (threat A51). */
  readonly startId: string;
  /** Of the attempt before. */
  readonly lastError: string | undefined;
}

/** How an attempt follows another one, and is followed. */
export interface Turn {
  /** Its start, when the transaction that settled another transition has committed it. */
  readonly start?: Start | undefined;
  /** Takes the transition whose start is committed together with the settlement of this one. */
  takeNext?(): Due | undefined;
}

/** `attempts` is the number of this one. */
export type Started = Due &
  Start & {
    /** The number of the transaction in which its handler has begun, on PostgreSQL. */
    transaction?: string;
    /** What its settlement starts. */
    next?: Due & Pick<Start, 'startId'>;
  };

/**
 * What became of an attempt. `undone`: it was taken back, since another worker has the reference or the transition changed;
 * `overtaken`: another process was faster, and it did not start.
 */
export type Outcome = 'settled' | 'parked' | 'retrying' | 'undone' | 'overtaken';

export interface Ended {
  readonly outcome: Outcome;
  /** The committed start of what was taken as the next one. */
  readonly begun?: Start | undefined;
}

/** What is left to do after the transaction, which took so long. */
export type Afterwards = (durationMs: number) => Ended | Promise<Ended>;
