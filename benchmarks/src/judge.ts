import type { Contender } from './contenders.ts';
import { type Spread, spread } from './spread.ts';
import type { Target } from './targets.ts';

/** One bound and what was measured, as reports/bench.json holds it. */
export interface Result {
  readonly name: string;
  /** The median over the rounds. */
  readonly value: number;
  readonly unit: 'ratio';
  /** `value` is at most this where the target is met. */
  readonly target: number;
  readonly met: boolean;
  readonly p10: number;
  readonly p90: number;
}

/** Nanoseconds per call in every round, by contender. */
export type Samples<C extends Pick<Contender, 'name'> = Pick<Contender, 'name'>> = ReadonlyMap<
  C,
  readonly number[]
>;

export function judge({ size, contender, over, atMost }: Target, samples: Samples): Result {
  const { median, p10, p90 } = ratio(samplesOf(contender, samples), samplesOf(over, samples));
  return {
    name: `${size} body: ${contender} over ${over}`,
    value: median,
    unit: 'ratio',
    target: atMost,
    met: median <= atMost,
    p10,
    p90,
  };
}

/** Divided within each round, where both met the same machine, and only then summed up. */
export function ratio(samples: readonly number[], over: readonly number[]): Spread {
  return spread(samples.map((sample, round) => sample / (over[round] ?? Number.NaN)));
}

function samplesOf(name: string, samples: Samples): readonly number[] {
  const found = [...samples].find(([contender]) => contender.name === name)?.[1];
  if (found === undefined) throw new Error(`A target names ${name}, which was not measured.`);
  return found;
}
