import type { TransitionReason, TransitionState } from './transition-state.ts';

/** What is written when a transition has to wait for something, and on what it was decided. */
export interface Parking {
  readonly transitionId: Uint8Array;
  readonly referenceKey: Uint8Array;
  readonly state: TransitionState;
  readonly reason: TransitionReason;
  /** The revisions of the transition and of its expectation, as they were read; 0 for no expectation. */
  readonly revision: number;
  readonly expectationRevision: number;
  readonly now: number;
  /** When to look again, should somebody be changing the expectation at this moment. */
  readonly postponedTo: number;
}

/**
 * `parked`; `changed`: a body, an expectation or a person came meanwhile, and the transition has to be read again;
 * `postponed`: somebody is changing the expectation, and it is read again in a moment.
 */
export type ParkingOutcome = 'parked' | 'changed' | 'postponed';
