import type { Spread } from './measure.ts';

/** How a value must relate to its target. */
export type Bound = 'at least' | 'at most' | 'above' | 'below' | 'exactly';

/** One figure and its bound, as in every report. */
export interface Result {
  readonly name: string;
  /** The median of the rounds, or the single value of a count. */
  readonly value: number;
  readonly unit: string;
  readonly bound: Bound | 'none';
  /** Null for a figure that is only reported. */
  readonly target: number | null;
  readonly met: boolean;
  /** Only if there were rounds. */
  readonly p10?: number;
  readonly p90?: number;
}

const HOLDS: Readonly<Record<Bound, (value: number, target: number) => boolean>> = {
  'at least': (value, target) => value >= target,
  'at most': (value, target) => value <= target,
  above: (value, target) => value > target,
  below: (value, target) => value < target,
  exactly: (value, target) => value === target,
};

/** Compares a figure with its target. A figure that was not measured, such as 0 over 0, meets none. */
export function judge(
  name: string,
  unit: string,
  measured: number | Spread,
  bound: Bound,
  target: number,
): Result {
  const { value, ...others } = told(name, unit, measured);
  return { ...others, value, bound, target, met: Number.isFinite(value) && HOLDS[bound](value, target) };
}

/** A figure without a target. It only has to exist. */
export function told(name: string, unit: string, measured: number | Spread): Result {
  const isOne = typeof measured === 'number';
  const value = isOne ? measured : measured.median;
  const rounds = isOne ? {} : { p10: measured.p10, p90: measured.p90 };
  return { name, value, unit, bound: 'none', target: null, met: value > 0, ...rounds };
}
