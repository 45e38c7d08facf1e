/** How a handler that fails is tried again. */
export interface RetrySettings {
  /** How often a handler is tried before the transition is `dead`. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

/**
 * The wait after a failed attempt, in milliseconds: doubled every time up to the longest, and then between half and
 * all of it, so that what failed together does not come back together.
 *
 * @param attempt the number of the attempt that failed, from 1.
 * @param random a number from 0 to 1.
 */
export function backoff(
  attempt: number,
  { firstDelayMs, longestDelayMs }: RetrySettings,
  random: number,
): number {
  const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 50));
  return Math.round(delay * (0.5 + random / 2));
}
