import type { TransitionReason, TransitionState } from './transition-state.ts';

/**
 * What happens in an inbox, for logs and metrics. No personal data, no reference and no amount is in any of them:
 * `transitionId` is a hash, and everything else is fit for a label.
 */
export type InboxEvent =
  /** A delivery was kept; with `outcome` `full` it was not, and its sender was told to come back. */
  | {
      readonly name: 'callback.received';
      readonly transitionId: string;
      readonly outcome: 'new' | 'new_body' | 'known' | 'full';
      readonly isEvidence: boolean;
      readonly durationMs: number;
    }
  /** The store was away, and the local spool keeps the delivery. */
  | { readonly name: 'callback.spooled'; readonly transitionId: string; readonly durationMs: number }
  /** Neither the store nor a spool could keep a delivery: its sender got `failureStatus` (429). */
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
      readonly durationMs: number;
    }
  /** The handler failed; it runs again after `delayMs`. */
  | {
      readonly name: 'transition.retrying';
      readonly transitionId: string;
      readonly state: 'retrying';
      readonly attempt: number;
      readonly delayMs: number;
    }
  /** The transition waits for something: a person, a handler, an expectation. */
  | {
      readonly name: 'transition.parked';
      readonly transitionId: string;
      readonly state: TransitionState;
      readonly reason: TransitionReason;
    }
  /** A person moved it. */
  | { readonly name: 'transition.moved'; readonly transitionId: string; readonly state: TransitionState }
  /** The spool handed deliveries over to the store. */
  | { readonly name: 'spool.drained'; readonly count: number }
  /**
   * At the start: the spool's file holds deliveries of others (another account, schema, database or SQLite file), which
   * wait for those inboxes.
   */
  | { readonly name: 'spool.others'; readonly count: number }
  /** The spool could not keep a delivery; `failure` is SQLite's code. */
  | { readonly name: 'spool.failed'; readonly failure: string }
  /** The store does not answer; `failure` is its code, such as ECONNREFUSED or 57P01. */
  | { readonly name: 'store.unavailable'; readonly failure: string; readonly retryInMs: number }
  | { readonly name: 'connection.lost'; readonly failure: string }
  | { readonly name: 'worker.started'; readonly concurrency: number }
  | { readonly name: 'worker.stopped' };

export type Emit = (event: InboxEvent) => void;

/** A hook reports; whatever happens in it, nothing in the inbox changes. Its own errors go to the console. */
export function emitter(onEvent: ((event: InboxEvent) => unknown) | undefined): Emit {
  if (onEvent === undefined) return () => undefined;
  return (event) => {
    const run = async (): Promise<unknown> => onEvent(Object.freeze(event));
    void run().catch((error: unknown) => console.error(error));
  };
}
