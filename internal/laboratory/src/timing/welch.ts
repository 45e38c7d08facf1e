import { quantile } from '../measure/measure.ts';

export interface Welch {
  /** The difference of the means over its standard error. */
  readonly t: number;
  /** Of the second mean from the first, in the unit of the samples. */
  readonly difference: number;
  readonly error: number;
}

/** Welch's t of two samples, whose variances may differ. NaN where neither varies. */
export function welch(one: readonly number[], other: readonly number[]): Welch {
  const [a, b] = [moments(one), moments(other)];
  const difference = b.mean - a.mean;
  const error = Math.sqrt(a.variance / one.length + b.variance / other.length);
  return { t: difference / error, difference, error };
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

/**
 * The bound above which samples are dropped, as dudect drops them: a quantile of both classes together, from samples that the test
 * does not use again, so that it favours neither.
 */
export function cropAbove(calibration: readonly number[]): number {
  return quantile(calibration, KEPT);
}

/** Welch's t of what remains of both. */
export function croppedWelch(one: readonly number[], other: readonly number[], bound: number): Welch {
  const kept = (values: readonly number[]): readonly number[] => values.filter((value) => value <= bound);
  return welch(kept(one), kept(other));
}
