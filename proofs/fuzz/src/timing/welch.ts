export interface Difference {
  /** The difference of the means over its standard error. */
  readonly t: number;
  /** The second mean minus the first, in the unit of the samples. */
  readonly difference: number;
  readonly error: number;
}

/** Welch's t of two samples, whose variances may differ. It takes every value as independent. NaN if neither sample varies. */
export function welch(one: readonly number[], other: readonly number[]): Difference {
  const [a, b] = [moments(one), moments(other)];
  return difference(b.mean - a.mean, a.variance / one.length + b.variance / other.length);
}

/**
 * The t of the two means of each block: Welch's t without what both means of a block share. Samples of one input, or of one
 * burst of load, resemble each other, so a million of them tell less than a million independent ones. Blocks share neither
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

/** Above this quantile, interrupts and garbage collections contribute more than the measured code. */
const KEPT = 0.9;

/** The bound of a block above which samples are dropped: a quantile over all its classes together, so that it favours none. */
export function cropAbove(block: Float64Array): number {
  return block.toSorted()[Math.floor(KEPT * block.length)] ?? Number.NaN;
}
