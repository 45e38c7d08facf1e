import type { Spread } from '@payment-service/measure';

/** What a median must not exceed, or must reach. */
export type Bound = { readonly atMost: number } | { readonly atLeast: number };

/** One bound and what was measured, as reports/bench.json holds it. */
export interface Result {
  readonly name: string;
  /** The median over the rounds, or the one value where a count has no rounds. */
  readonly value: number;
  readonly unit: 'ratio' | 'bytes' | 'packages' | 'ms';
  readonly bound: 'at most' | 'at least';
  readonly target: number;
  readonly met: boolean;
  readonly p10: number;
  readonly p90: number;
}

export function judge(
  name: string,
  unit: Result['unit'],
  { median, p10, p90 }: Spread,
  bound: Bound,
): Result {
  const isUpper = 'atMost' in bound;
  const target = isUpper ? bound.atMost : bound.atLeast;
  // Neither is a number when something was not measured: 0 over 0, or a rate over 0 in the short run of a busy machine.
  const met = Number.isFinite(median) && (isUpper ? median <= target : median >= target);
  return { name, value: median, unit, bound: isUpper ? 'at most' : 'at least', target, met, p10, p90 };
}
