export interface Difference {
  /** The difference of the means over its standard error. */
  readonly t: number;
  /** The mean of the differences, in the unit of the samples. */
  readonly difference: number;
  readonly error: number;
}

/**
 * The t of the two means of each block: Welch's t without what both means of a block share. Samples of one input, or of one
 * burst of load, resemble each other, so a million of them tell less than a million independent ones. Blocks share neither
 * inputs nor bursts. NaN if nothing varies.
 */
export function pairedT(one: readonly number[], other: readonly number[]): Difference {
  const differences = other.map((value, block) => value - (one[block] ?? Number.NaN));
  const count = differences.length;
  const mean = differences.reduce((sum, value) => sum + value, 0) / count;
  const squares = differences.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const error = Math.sqrt(squares / (count - 1) / count);
  return { t: mean / error, difference: mean, error };
}

/** Above this quantile, interrupts and garbage collections contribute more than the measured code. */
const KEPT = 0.9;

/** The bound of a block above which samples are dropped: a quantile over all its classes together, so that it favours none. */
export function cropAbove(block: Float64Array): number {
  return block.toSorted()[Math.floor(KEPT * block.length)] ?? Number.NaN;
}
