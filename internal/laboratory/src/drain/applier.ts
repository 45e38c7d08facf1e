/**
 * One way to apply payments that are due. All have the same effect, one row of the merchant's in a table of its own, in
 * the transaction that marks the payment as done.
 */
export interface Applier {
  readonly name: string;
  /** Adds payments that are due; then ANALYZE. */
  fill(count: number): Promise<void>;
  /**
   * Applies so many of them.
   *
   * @returns how long it took, in seconds.
   */
  apply(count: number, concurrency: number): Promise<number>;
  /** How many effects there are. */
  effects(): Promise<number>;
  close(): Promise<void>;
}

/** Resolves when it was called so many times. */
export class Countdown {
  #left: number;
  readonly #started: number = performance.now();
  readonly #over: PromiseWithResolvers<number> = Promise.withResolvers();

  constructor(count: number) {
    this.#left = count;
  }

  readonly count = (): void => {
    this.#left -= 1;
    if (this.#left === 0) this.#over.resolve((performance.now() - this.#started) / 1000);
  };

  /** Seconds from the construction to the last call. */
  get seconds(): Promise<number> {
    return this.#over.promise;
  }
}
