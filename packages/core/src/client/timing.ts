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

/** The time limit of one call. It covers all attempts, waits and bodies. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timing: Timing;
  readonly #end: number;
  readonly #cancelTimer: () => void;
  readonly #onCallerAbort = (): void => this.#abort(this.#caller?.reason);
  #reject: (reason: unknown) => void = () => {};
  #isOver = false;
  /**
   * Rejects with the signal's reason when the signal aborts. Inside a call, races against this promise replace
   * listeners on the signal, which cost more.
   */
  readonly aborted: Promise<never> = new Promise((_resolve, reject) => {
    this.#reject = reject;
  });

  constructor(timeoutMs: number, caller: AbortSignal | undefined, timing: Timing) {
    this.#caller = caller;
    this.#timing = timing;
    this.#end = timing.monotonic() + timeoutMs;
    this.#cancelTimer = timing.schedule(() => {
      this.#isOver = !this.signal.aborted;
      this.#abort();
    }, timeoutMs);
    this.aborted.catch(() => undefined);
    caller?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** Aborted when the time is over or the caller cancels. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time is over, as opposed to a cancelled call. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get remainingMs(): number {
    return this.#end - this.#timing.monotonic();
  }

  /** Waits, or rejects as `aborted` does. Leaves no timer behind. */
  async wait(delayMs: number): Promise<void> {
    let cancel = (): void => {};
    const elapsed = new Promise<void>((resolve) => {
      cancel = this.#timing.schedule(resolve, delayMs);
    });
    await Promise.race([elapsed, this.aborted]).finally(cancel);
  }

  /** Removes the timer and the listener on the caller's signal. */
  close(): void {
    this.#cancelTimer();
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
  }

  #abort(reason?: unknown): void {
    this.#controller.abort(reason);
    this.#reject(this.signal.reason);
  }
}
