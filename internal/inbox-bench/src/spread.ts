/** The middle of many values, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  /** A tenth lies below. */
  readonly p10: number;
  /** A tenth lies above. */
  readonly p90: number;
}

export function spread(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), p10: quantile(values, 0.1), p90: quantile(values, 0.9) };
}

/** Between two neighbours, the value in proportion. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
