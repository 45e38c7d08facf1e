/** The middle of many rounds, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  /** A tenth of the rounds lies below. */
  readonly p10: number;
  /** A tenth of the rounds lies above. */
  readonly p90: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: quantile(sorted, 0.5), p10: quantile(sorted, 0.1), p90: quantile(sorted, 0.9) };
}

/** Between two neighbours, the value in proportion. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
