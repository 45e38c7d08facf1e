/**
 * Where the client takes time and chance from. The default is the machine's; a test passes its own, in whole or in
 * part.
 *
 * @example
 * createClient({ baseUrl, publicKey, timing: { random: () => 1 } }); // every retry waits its longest
 */
export interface Timing {
  /** Milliseconds since 1970: what a `Retry-After` date is compared with. */
  now(): number;
  /** Milliseconds of a clock that is never set back: deadlines, durations and the age of cached data. */
  monotonic(): number;
  /** At least 0 and less than 1: the jitter of a retry. */
  random(): number;
  /** Calls `callback` once, after `delayMs`. The function that it answers with takes that back. */
  schedule(callback: () => void, delayMs: number): () => void;
}

export const systemTiming: Timing = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
  schedule: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
