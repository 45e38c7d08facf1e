/**
 * Where the client takes time and randomness from. A test passes its own, as a whole or in part.
 *
 * @example
 * createClient({ baseUrl, publicKey, timing: { random: () => 1 } }); // every retry waits as long as it may
 */
export interface Timing {
  /** Milliseconds since 1970. A `Retry-After` date is compared with it. */
  now(): number;
  /** Milliseconds of a clock that is never set back, for deadlines, durations and the age of cached data. */
  monotonic(): number;
  /** At least 0 and less than 1: the jitter of a retry. */
  random(): number;
  /** Calls `callback` once, after `delayMs`. Returns a function that cancels it. */
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

/** The time limit of one call: a signal that covers all attempts, waits and bodies. */
export interface Deadline {
  /** Aborted when the time is over or the caller cancels. */
  readonly signal: AbortSignal;
  /** Whether the time is over, as opposed to a cancelled call. */
  isOver(): boolean;
  remainingMs(): number;
  /** Removes the timer and the listener on the caller's signal. */
  close(): void;
}

export function openDeadline(timeoutMs: number, caller: AbortSignal | undefined, timing: Timing): Deadline {
  const controller = new AbortController();
  const end = timing.monotonic() + timeoutMs;
  let isOver = false;
  const cancel = timing.schedule(() => {
    if (controller.signal.aborted) return;
    isOver = true;
    controller.abort();
  }, timeoutMs);
  const onAbort = (): void => controller.abort(caller?.reason);
  caller?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    remainingMs: () => end - timing.monotonic(),
    close: () => {
      cancel();
      caller?.removeEventListener('abort', onAbort);
    },
  };
}

/** Settles as `promise` does, or rejects with `signal.reason` as soon as `signal` aborts. Leaves no listener behind. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      },
      (error) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      },
    );
  });
}

/** Waits `delayMs`, or rejects with `signal.reason` as soon as `signal` aborts. Leaves no timer behind. */
export async function wait(delayMs: number, signal: AbortSignal, timing: Timing): Promise<void> {
  let cancel = (): void => {};
  const elapsed = new Promise<void>((resolve) => {
    cancel = timing.schedule(resolve, delayMs);
  });
  try {
    await untilAborted(elapsed, signal);
  } finally {
    cancel();
  }
}
