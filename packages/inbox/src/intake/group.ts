import { TimedOut } from '../time.ts';

/** One item that waits to be sent, or for the result of its group. */
interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
  readonly expiresAt: number;
}

export interface GroupOptions<T, R> {
  /** Sends a group; the results are in the order of the items. */
  readonly send: (items: readonly T[]) => Promise<readonly R[]>;
  /** How many groups are under way at the same time. Beside the first, only full ones are. */
  readonly lanes: number;
  readonly most: number;
}

/** Time is looked at this often: a timer for each item would cost more than the item. */
const TICK_MS = 50;

/**
 * Group commit: what arrives while a group is under way goes into the next one, so that many callbacks share one round
 * trip and one fsync, and a single one waits for nobody.
 */
export class Group<T, R> {
  readonly #options: GroupOptions<T, R>;
  readonly #unsettled = new Set<Waiting<T, R>>();
  #waiting: Waiting<T, R>[] = [];
  #underWay = 0;
  #isScheduled = false;
  #clock: NodeJS.Timeout | undefined;

  constructor(options: GroupOptions<T, R>) {
    this.#options = options;
  }

  /** How many wait to be sent. */
  get size(): number {
    return this.#waiting.length;
  }

  /**
   * @param timeoutMs how long to wait for the result; an item that has not been sent by then is not sent any more.
   * @throws {TimedOut} after that time, to the next 50 ms.
   */
  add(item: T, timeoutMs: number = Number.POSITIVE_INFINITY): Promise<R> {
    return new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject, expiresAt: performance.now() + timeoutMs };
      this.#unsettled.add(waiting);
      this.#waiting.push(waiting);
      if (timeoutMs !== Number.POSITIVE_INFINITY) {
        // As with afterMs(): what has arrived by then is read first.
        const expire = (): unknown => setImmediate(() => this.#expire());
        this.#clock ??= setInterval(expire, Math.min(TICK_MS, timeoutMs));
      }
      this.#schedule();
    });
  }

  /**
   * Once for all that arrive in this turn of the event loop: the first of them does not go alone, with the others a round
   * trip and an fsync behind it.
   */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    const { lanes, most } = this.#options;
    while (this.#underWay === 0 || (this.#underWay < lanes && this.#waiting.length >= most)) {
      const group = this.#waiting.splice(0, most);
      if (group.length === 0) return;
      this.#underWay += 1;
      void this.#send(group);
    }
  }

  async #send(group: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#options.send(group.map(({ item }) => item));
      for (const [index, waiting] of group.entries()) waiting.resolve(results[index] as R);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      for (const waiting of group) this.#unsettled.delete(waiting);
      this.#underWay -= 1;
      if (this.#unsettled.size === 0) this.#stopClock();
      this.#schedule();
    }
  }

  #expire(): void {
    const now = performance.now();
    for (const waiting of this.#unsettled) {
      if (waiting.expiresAt > now) continue;
      this.#unsettled.delete(waiting);
      waiting.reject(new TimedOut());
    }
    this.#waiting = this.#waiting.filter((waiting) => this.#unsettled.has(waiting));
    if (this.#unsettled.size === 0) this.#stopClock();
  }

  #stopClock(): void {
    clearInterval(this.#clock);
    this.#clock = undefined;
  }
}
