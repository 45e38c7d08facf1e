import { ratio, spread } from '../measure/measure.ts';
import { judge, type Result, told } from '../measure/results.ts';

/** Transitions settled a second, one figure for each round. */
export type DrainRates = ReadonlyMap<string, readonly number[]>;

/** Two backlogs that are held against each other. */
export interface DrainTarget {
  readonly large: string;
  readonly small: string;
  /** The control, whose claims sort all that is due, has to stay below. */
  readonly isControl: boolean;
}

const AT_LEAST = 0.8;

/** The rates, and for each target the median of the ratios within the rounds. */
export function judgeDrain(rates: DrainRates, targets: readonly DrainTarget[]): readonly Result[] {
  const judged = targets.map(({ large, small, isControl }) => {
    const [own, over] = [rates.get(large), rates.get(small)];
    if (own === undefined || over === undefined)
      throw new Error(`Not measured: ${own === undefined ? large : small}.`);
    const bound = isControl ? 'below' : 'at least';
    return judge(`${large}, over ${small}`, 'ratio', ratio(own, over), bound, AT_LEAST);
  });
  return [...[...rates].map(([name, own]) => told(name, 'per second', spread(own))), ...judged];
}
