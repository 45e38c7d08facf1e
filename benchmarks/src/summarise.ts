import type { Size } from './callback-bodies.ts';
import type { Contender } from './contenders.ts';
import { ratio, type Samples } from './judge.ts';
import { type Spread, spread } from './spread.ts';

/** One row of the tables. */
export interface Measurement {
  readonly size: Size;
  /** Of the body. */
  readonly bytes: number;
  readonly contender: string;
  readonly call: string;
  readonly isAsync: boolean;
  /** How many times the floor's time it takes. */
  readonly overFloor: Spread;
  /** In the median round, per second of processor time. For information: it tells as much about the machine. */
  readonly callsPerSecond: number;
}

/** @param floor the contender in `samples` that the others are divided by. */
export function summarise(
  size: Size,
  bytes: number,
  floor: Contender,
  samples: Samples<Contender>,
): Measurement[] {
  const floorSamples = samples.get(floor) ?? [];
  return [...samples].map(([{ name, call, isAsync }, own]) => ({
    size,
    bytes,
    contender: name,
    call,
    isAsync,
    overFloor: ratio(own, floorSamples),
    callsPerSecond: Math.round(1e9 / spread(own).median),
  }));
}
