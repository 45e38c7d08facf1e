import type { TransitionState, TransitionSummary } from '@payment-service/inbox';

/** The states that only a person ends. */
export const HELD_STATES: readonly TransitionState[] = ['quarantined', 'conflict', 'dead'];

/** Whether it waits for a person. */
export function isHeld({ state }: Pick<TransitionSummary, 'state'>): boolean {
  return HELD_STATES.includes(state);
}
