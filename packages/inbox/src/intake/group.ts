import { TimedOut } from '../time.ts';

type Waiting<T, R> = PromiseWithResolvers<R> & { readonly item: T };

const MAX_GROUP = 64;
/** Above this, further items are refused immediately: the database cannot keep up. */
const MAX_WAITING = 5000;

/** Group commit: items that arrive while a group is under way go into the next one, and share its round trip and its fsync. */
export class Group<T, R> {
  readonly #sendAll: (items: readonly T[]) => Promise<readonly R[]>;
  readonly #waiting = new Set<Waiting<T, R>>();
  readonly #maxConcurrency: number;
  #underWay = 0;
  #isScheduled = false;

  /**
   * @param sendAll Returns its results in the order of the items.
   * @param maxConcurrency How many groups are under way at the same time. Another one starts only when it is full: fewer,
   * larger groups cost the server less. @default 2
   */
  constructor(sendAll: (items: readonly T[]) => Promise<readonly R[]>, maxConcurrency = 2) {
    this.#sendAll = sendAll;
    this.#maxConcurrency = maxConcurrency;
  }

  /** @throws {TimedOut} After `timeoutMs`, and the item is then not sent; immediately if too many items wait. */
  async add(item: T, timeoutMs: number): Promise<R> {
    if (this.#waiting.size >= MAX_WAITING) throw new TimedOut();
    const waiting = { item, ...Promise.withResolvers<R>() };
    const timer = setTimeout(() => {
      this.#waiting.delete(waiting);
      waiting.reject(new TimedOut());
    }, timeoutMs);
    this.#waiting.add(waiting);
    this.#schedule();
    return waiting.promise.finally(() => clearTimeout(timer));
  }

  /** Once for everything that arrives in this turn of the event loop, so that the first item is not sent alone. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (
        this.#waiting.size > 0 &&
        (this.#underWay === 0 || (this.#underWay < this.#maxConcurrency && this.#waiting.size >= MAX_GROUP))
      ) {
        void this.#send([...this.#waiting].slice(0, MAX_GROUP));
      }
    });
  }

  async #send(group: readonly Waiting<T, R>[]): Promise<void> {
    for (const waiting of group) this.#waiting.delete(waiting);
    this.#underWay += 1;
    try {
      const results = await this.#sendAll(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as R);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#underWay -= 1;
      this.#schedule();
    }
  }
}
