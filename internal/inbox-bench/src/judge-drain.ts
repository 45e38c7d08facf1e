import { quantile, ratio } from '@payment-service/measure';

/** Transitions settled a second, one figure for each round. */
export type DrainRates = ReadonlyMap<string, readonly number[]>;

/** One bound and what was measured, as the report holds it. */
export interface DrainResult {
  readonly name: string;
  readonly value: number;
  readonly unit: 'per second' | 'ratio' | 'ms of PostgreSQL' | 'ms of Node' | 'bytes of WAL' | 'statements';
  /** Null for a rate, which is only told. */
  readonly target: number | null;
  readonly bound: 'at least' | 'at most' | 'below' | 'none';
  readonly met: boolean;
}

/** Two backlogs that are held against each other. */
export interface DrainTarget {
  readonly large: string;
  readonly small: string;
  /** The control, whose claims sort all that is due, has to stay below. */
  readonly isControl: boolean;
}

const AT_LEAST = 0.8;

/** The rates, and for each target the median of the ratios within the rounds. */
export function judgeDrain(rates: DrainRates, targets: readonly DrainTarget[]): readonly DrainResult[] {
  const told = [...rates].map(([name, own]): DrainResult => {
    const value = quantile(own, 0.5);
    return { name, value, unit: 'per second', target: null, bound: 'none', met: value > 0 };
  });
  const judged = targets.map(({ large, small, isControl }): DrainResult => {
    const [own, over] = [rates.get(large), rates.get(small)];
    if (own === undefined || over === undefined)
      throw new Error(`Not measured: ${own === undefined ? large : small}.`);
    const { median: value } = ratio(own, over);
    return {
      name: `${large}, over ${small}`,
      value,
      unit: 'ratio',
      target: AT_LEAST,
      bound: isControl ? 'below' : 'at least',
      met: isControl ? value < AT_LEAST : value >= AT_LEAST,
    };
  });
  return [...told, ...judged];
}
