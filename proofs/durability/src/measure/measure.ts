/** The median of many rounds, and their spread. */
export interface Spread {
  readonly median: number;
  /** A tenth of the rounds is below. */
  readonly p10: number;
  /** A tenth of the rounds is above. */
  readonly p90: number;
}

export function spread(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), p10: quantile(values, 0.1), p90: quantile(values, 0.9) };
}

/** Interpolates between neighbouring values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** Divides within each round, in which both sides had the same conditions, and only then takes the median. */
export function ratio(own: readonly number[], over: readonly number[]): Spread {
  return spread(own.map((value, round) => value / (over[round] ?? Number.NaN)));
}

/** Subtracts within each round, as `ratio` divides. */
export function difference(own: readonly number[], less: readonly number[]): Spread {
  return spread(own.map((value, round) => value - (less[round] ?? Number.NaN)));
}

/**
 * Runs every contender once per round, in a new random order, so that other load on the machine affects all of them.
 *
 * @param random returns numbers from 0 to below 1 and decides the order.
 * @returns for each contender, the samples of all rounds in order.
 */
export async function interleave<C, S>(
  contenders: readonly C[],
  rounds: number,
  random: () => number,
  run: (contender: C, round: number) => S | Promise<S>,
): Promise<ReadonlyMap<C, readonly S[]>> {
  const samples = new Map(contenders.map((contender): [C, S[]] => [contender, []]));
  for (let round = 0; round < rounds; round++)
    for (const contender of shuffled(contenders, random))
      samples.get(contender)?.push(await run(contender, round));
  return samples;
}

export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** In milliseconds, on one clock for all processes of the machine, which is never adjusted. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
