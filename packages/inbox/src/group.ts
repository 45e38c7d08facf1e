/** One item that waits to be sent with others. */
interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
  isWithdrawn: boolean;
}

export interface GroupOptions<T, R> {
  /** Sends a group; the results are in the order of the items. */
  readonly send: (items: readonly T[]) => Promise<readonly R[]>;
  /** How many groups are under way at the same time. */
  readonly lanes: number;
  readonly most: number;
}

/**
 * Group commit: what arrives while a group is under way goes into the next one, so that many callbacks share one round
 * trip and one fsync, and a single one waits for nobody.
 */
export class Group<T, R> {
  readonly #options: GroupOptions<T, R>;
  #waiting: Waiting<T, R>[] = [];
  #underWay = 0;

  constructor(options: GroupOptions<T, R>) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** @param signal withdraws the item, as long as its group has not been sent. */
  add(item: T, signal: AbortSignal): Promise<R> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting<T, R> = { item, resolve, reject, isWithdrawn: false };
      signal.addEventListener('abort', () => {
        waiting.isWithdrawn = true;
        reject(signal.reason);
      });
      this.#waiting.push(waiting);
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#underWay < this.#options.lanes) {
      this.#waiting = this.#waiting.filter(({ isWithdrawn }) => !isWithdrawn);
      const group = this.#waiting.splice(0, this.#options.most);
      if (group.length === 0) return;
      this.#underWay += 1;
      void this.#send(group);
    }
  }

  async #send(group: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#options.send(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as R);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#underWay -= 1;
      this.#pump();
    }
  }
}
