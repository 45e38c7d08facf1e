import type { AttemptFailure } from './attempt-failure.ts';
import type { RetryBudget } from './retry-budget.ts';

/** Wait and try again, or stop and say why (undefined: plain from the failure itself). */
export type RetryPlan =
  | { readonly waitMs: number }
  | { readonly waitMs?: never; readonly why: string | undefined };

interface Situation {
  readonly failure: AttemptFailure;
  /** How many attempts were made. */
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly timeoutMs: number;
  readonly remainingMs: number;
  readonly random: () => number;
  readonly budget: RetryBudget;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4000;

/**
 * Decides about the next attempt. Full jitter: anything from 0 to 0.25 s · 2ⁿ, at most 4 s, so that clients which
 * failed together do not come back together. `Retry-After` is the least wait. A wait that would outlast the deadline is
 * not begun: the caller learns the real failure at once.
 */
export function planRetry(situation: Situation): RetryPlan {
  const { failure, attempts, maxAttempts, timeoutMs, remainingMs, random, budget } = situation;
  if (!failure.isTransient || attempts >= maxAttempts) return { why: undefined };
  const { retryAfterMs = 0 } = failure.details;
  if (retryAfterMs > 0 && retryAfterMs >= remainingMs) {
    const seconds = Math.ceil(retryAfterMs / 1000);
    return {
      why: `It asks for a wait of ${seconds} s (Retry-After), which does not fit into timeoutMs (${timeoutMs}): try again after that.`,
    };
  }
  const backoff = random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1));
  const waitMs = Math.max(retryAfterMs, backoff);
  if (waitMs >= remainingMs) {
    return { why: `timeoutMs (${timeoutMs}) leaves no time for another attempt: try again later.` };
  }
  if (!budget.take()) {
    return { why: 'Not repeated, since many calls of this client needed retries lately: try again later.' };
  }
  return { waitMs };
}
