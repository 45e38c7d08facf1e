interface Running {
  readonly endsAt: number;
  readonly onOver: () => void;
}

/**
 * One limit for many things that run side by side, with one timer for all of them: a timer for every request costs more
 * than the verification of its callback.
 */
export class TimeLimit {
  readonly #milliseconds: number;
  // In the order in which they end, since all of them have the same limit.
  readonly #running = new Set<Running>();
  #hasTimer = false;

  /** @param milliseconds From the start of each. */
  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /** Calls `onOver` once, when the limit is over, unless the function that this returns is called before. */
  start(onOver: () => void): () => void {
    const running = { endsAt: performance.now() + this.#milliseconds, onOver };
    this.#running.add(running);
    if (!this.#hasTimer) this.#wait(this.#milliseconds);
    return () => this.#running.delete(running);
  }

  #wait(milliseconds: number): void {
    this.#hasTimer = true;
    const timer: unknown = setTimeout(() => this.#check(), milliseconds);
    // An open connection keeps the process alive; a timer with nothing to do must not.
    if (isUnreferable(timer)) timer.unref();
  }

  #check(): void {
    this.#hasTimer = false;
    for (const running of this.#running) {
      const remaining = running.endsAt - performance.now();
      if (remaining > 0) {
        this.#wait(Math.ceil(remaining));
        return;
      }
      this.#running.delete(running);
      running.onOver();
    }
  }
}

function isUnreferable(timer: unknown): timer is { unref(): void } {
  return typeof timer === 'object' && timer !== null && 'unref' in timer;
}
