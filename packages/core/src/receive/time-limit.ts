/** One thing that runs under a limit. */
export interface Limited {
  readonly lastTick: number;
  readonly onOver: () => void;
}

const TICKS = 8;

/**
 * One limit for many things that run side by side. A coarse clock, an eighth of the limit, serves all of them: a timer for
 * each request would cost as much as the digest of its callback. So a limit is kept to the millisecond before it, and to an
 * eighth after it.
 */
export class TimeLimit {
  readonly #tickMs: number;
  readonly #running = new Set<Limited>();
  #ticks = 0;
  #isTicking = false;

  constructor(milliseconds: number) {
    this.#tickMs = milliseconds / TICKS;
  }

  /** Calls `onOver` once, when the limit is over, unless `stop()` comes first. */
  start(onOver: () => void): Limited {
    const limited = { lastTick: this.#ticks + TICKS + 1, onOver };
    this.#running.add(limited);
    if (!this.#isTicking) this.#wait();
    return limited;
  }

  stop(limited: Limited): void {
    this.#running.delete(limited);
  }

  #wait(): void {
    this.#isTicking = true;
    const timer: unknown = setTimeout(() => this.#tick(), this.#tickMs);
    // An open connection keeps the process alive; a clock must not.
    if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
      timer.unref();
  }

  #tick(): void {
    this.#ticks++;
    for (const limited of this.#running) {
      // In the order in which they end, since all of them have the same limit.
      if (limited.lastTick > this.#ticks) break;
      this.#running.delete(limited);
      limited.onOver();
    }
    this.#isTicking = false;
    if (this.#running.size > 0) this.#wait();
  }
}
