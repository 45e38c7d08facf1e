import { channel } from 'node:diagnostics_channel';
import { runHook } from '@payment-service/core/internal';
import type { StatementVerdict, TransitionReason, TransitionState } from '../states.ts';

/**
 * What happens in an inbox, for logs and metrics. None contains personal data, a reference or an amount: `transitionId` is a
 * hash, and everything else can be used as a label.
 */
export type InboxEvent =
  /** A delivery was kept; with the `outcome` `full` it was not, and the sender was asked to retry. */
  | {
      readonly name: 'callback.received';
      readonly transitionId: string;
      readonly outcome: 'new' | 'new_body' | 'known' | 'full';
      readonly isEvidence: boolean;
      readonly durationMs: number;
    }
  /** The store was unavailable, and the local spool keeps the delivery. */
  | { readonly name: 'callback.spooled'; readonly transitionId: string; readonly durationMs: number }
  /** Neither the store nor a spool could keep a delivery, so the sender received `failureStatus` (429). */
  | {
      readonly name: 'callback.unavailable';
      readonly transitionId: string;
      readonly failure: string;
      readonly durationMs: number;
    }
  /** The handler and its effects are committed. */
  | {
      readonly name: 'transition.settled';
      readonly transitionId: string;
      readonly state: 'settled';
      readonly attempt: number;
      /** Another body of this transition claims another amount. */
      readonly contradicted: boolean;
      readonly durationMs: number;
    }
  /** The handler failed; it runs again after `delayMs`. `failure` is the code or the name of its error, which `onError` gets. */
  | {
      readonly name: 'transition.retrying';
      readonly transitionId: string;
      readonly state: 'retrying';
      readonly attempt: number;
      readonly failure: string;
      readonly delayMs: number;
    }
  /** The transition waits for something: an operator, a handler, an expectation. */
  | {
      readonly name: 'transition.parked';
      readonly transitionId: string;
      readonly state: TransitionState;
      readonly reason: TransitionReason;
    }
  /** An operator moved it. */
  | { readonly name: 'transition.moved'; readonly transitionId: string; readonly state: TransitionState }
  /**
   * `reconcile()` cannot explain what a wallet gained. Only the report contains the amount. `currency` and `walletType` are
   * those of the merchant's own wallets, which are few.
   */
  | {
      readonly name: 'balance.unexplained';
      readonly currency: string;
      readonly walletType: string;
      readonly verdict: 'more' | 'less' | 'wallet_missing';
    }
  /** `reconcileStatement()` leaves `count` rows with this verdict for an operator. */
  | { readonly name: 'statement.differs'; readonly verdict: StatementVerdict; readonly count: number }
  /** The store has taken `count` deliveries from the spool. */
  | { readonly name: 'spool.drained'; readonly count: number }
  /** The spool could not keep a delivery, or cannot be read. `failure` is the code. */
  | { readonly name: 'spool.failed'; readonly failure: string }
  /** A delivery in the spool is damaged, or its signature does not verify: it stays as evidence, and nothing is stored from it. */
  | { readonly name: 'spool.refused'; readonly isDamaged: boolean }
  /** The store does not answer; `failure` is its code, such as ECONNREFUSED or 57P01. */
  | { readonly name: 'store.unavailable'; readonly failure: string; readonly retryInMs: number }
  | { readonly name: 'worker.started'; readonly concurrency: number }
  | { readonly name: 'worker.stopped' };

export type Emit = (event: InboxEvent) => void;

/** Every event, without `failure`: error names are not a closed set (threat A58). */
const EVENTS = channel('payment-service:inbox');

/** A hook only reports: its errors go to the console and change nothing in the inbox. */
export function emitter(onEvent: ((event: InboxEvent) => unknown) | undefined): Emit {
  return (event) => {
    if (EVENTS.hasSubscribers) EVENTS.publish({ ...event, failure: undefined });
    if (onEvent === undefined) return;
    runHook(() => onEvent(Object.freeze(event)), console.error);
  };
}

/** The only part of a database error that may be reported: its code. Messages quote values, which can include a body. */
export function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code: unknown = Reflect.get(error, 'code');
  const errcode: unknown = Reflect.get(error, 'errcode');
  if (typeof errcode === 'number') return `SQLITE_${errcode}`;
  return typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code) ? code : error.name;
}
