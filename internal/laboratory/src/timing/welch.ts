export interface Difference {
  /** The difference of the means over its standard error. */
  readonly t: number;
  /** Of the second mean from the first, in the unit of the samples. */
  readonly difference: number;
  readonly error: number;
}

/** Welch's t of two samples, whose variances may differ. It takes every value for independent. NaN where neither varies. */
export function welch(one: readonly number[], other: readonly number[]): Difference {
  const [a, b] = [moments(one), moments(other)];
  return difference(b.mean - a.mean, a.variance / one.length + b.variance / other.length);
}

/**
 * The t of two means of each block, which is Welch's with what both means of a block share taken out. Samples of one input, or of
 * one burst of load, resemble each other, so a million of them know less than a million independent ones. Blocks share neither
 * inputs nor bursts.
 */
export function pairedT(one: readonly number[], other: readonly number[]): Difference {
  const { mean, variance } = moments(other.map((value, block) => value - (one[block] ?? Number.NaN)));
  return difference(mean, variance / one.length);
}

function difference(value: number, squaredError: number): Difference {
  const error = Math.sqrt(squaredError);
  return { t: value / error, difference: value, error };
}

function moments(values: readonly number[]): { readonly mean: number; readonly variance: number } {
  let [mean, squares, count] = [0, 0, 0];
  for (const value of values) {
    const delta = value - mean;
    mean += delta / ++count;
    squares += delta * (value - mean);
  }
  return { mean, variance: squares / (count - 1) };
}

/** Of what lies above it, interrupts and collections of garbage make more than the code that is measured. */
const KEPT = 0.9;

/** The bound of a block above which samples are dropped: a quantile of all of its classes together, so that it favours none. */
export function cropAbove(block: Float64Array): number {
  return block.toSorted()[Math.floor(KEPT * block.length)] ?? Number.NaN;
}
