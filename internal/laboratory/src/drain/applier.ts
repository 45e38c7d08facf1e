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

export const COUNT_EFFECTS = 'select count(*) as n from merchant_effect';

/** Seconds until `call` was called so many times. */
export function countdown(count: number): { readonly call: () => void; readonly seconds: Promise<number> } {
  const started = performance.now();
  const { promise: seconds, resolve } = Promise.withResolvers<number>();
  let left = count;
  const call = (): void => {
    left -= 1;
    if (left === 0) resolve((performance.now() - started) / 1000);
  };
  return { call, seconds };
}
