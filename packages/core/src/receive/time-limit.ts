/** A task under a limit: a link in a ring, in the order in which the limits end. */
export interface Limited {
  lastTick: number;
  onOver: () => void;
  before: Limited;
  after: Limited;
}

const TICKS = 8;

/**
 * One limit for many concurrent tasks. One coarse clock, which ticks every eighth of the limit, serves all of them: a timer for
 * each request would cost as much as the digest of its callback. A limit therefore never ends early, and at most an eighth
 * late (decision D31). A ring, not a `Set`, since hashing a new object would cost as much again.
 */
export class TimeLimit {
  readonly #tickMs: number;
  readonly #ring: Limited;
  #ticks = 0;
  #isTicking = false;

  constructor(milliseconds: number) {
    this.#tickMs = milliseconds / TICKS;
    const ring: Partial<Limited> = { lastTick: Number.POSITIVE_INFINITY, onOver: () => {} };
    this.#ring = Object.assign(ring, { before: ring, after: ring }) as Limited;
  }

  /** Calls `onOver` once when the limit ends, unless `stop()` is called first. */
  start(onOver: () => void): Limited {
    const { before } = this.#ring;
    const limited = { lastTick: this.#ticks + TICKS + 1, onOver, before, after: this.#ring };
    before.after = limited;
    this.#ring.before = limited;
    if (!this.#isTicking) this.#wait();
    return limited;
  }

  /** May be called twice: after the first call, `limited` is a ring of its own. */
  stop(limited: Limited): void {
    limited.before.after = limited.after;
    limited.after.before = limited.before;
    limited.before = limited;
    limited.after = limited;
  }

  #wait(): void {
    this.#isTicking = true;
    const timer: { unref?: () => unknown } = Object(setTimeout(() => this.#tick(), this.#tickMs));
    timer.unref?.(); // An open connection keeps the process alive; a clock must not.
  }

  #tick(): void {
    this.#ticks++;
    try {
      while (this.#ring.after.lastTick <= this.#ticks) {
        const over = this.#ring.after;
        this.stop(over);
        over.onOver();
      }
    } finally {
      // An `onOver` that throws is an uncaught exception, as in any timer. The other limits end with the next tick.
      this.#isTicking = false;
      if (this.#ring.after !== this.#ring) this.#wait();
    }
  }
}
