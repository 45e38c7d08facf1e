import { ratio, type Spread, spread } from '@payment-service/measure';
import { BENCHED, CONTENDERS, type ContenderId } from './contender.ts';
import { type Sample, type Samples, WAYS, type Way } from './measure.ts';
import type { Target } from './targets.ts';

/** One bound and what was measured, as the report holds it. */
export interface Result extends Omit<Spread, 'median'> {
  readonly name: string;
  /** The median over the rounds. */
  readonly value: number;
  readonly unit: 'ratio';
  /** `value` is at least this where the target is met. */
  readonly target: number;
  readonly met: boolean;
}

/** One row of the tables. */
export interface Measurement {
  readonly way: Way;
  readonly contender: string;
  readonly call: string;
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** Callbacks a second, divided by those of the same engine's floor in the same round; none for Redis. */
  readonly overFloor: Spread | undefined;
}

/** Undefined where the other one could not be measured. */
export function judge({ way, contender, over, atLeast }: Target, samples: Samples): Result | undefined {
  const [own, other] = [samples[way].get(contender), samples[way].get(over)];
  if (own === undefined) throw new Error(`A target names ${contender}, which was not measured.`);
  if (other === undefined) return undefined;
  const { median, p10, p90 } = ratio(rates(own), rates(other));
  const name = `${way === 'store' ? 'at the store' : 'over HTTP'}: ${CONTENDERS[contender].name} over ${CONTENDERS[over].name}`;
  return { name, value: median, unit: 'ratio', target: atLeast, met: median >= atLeast, p10, p90 };
}

export function measurements(samples: Samples): readonly Measurement[] {
  return WAYS.flatMap((way) =>
    BENCHED.flatMap((id) => {
      const own = samples[way].get(id);
      if (own === undefined) return [];
      const { name, engine, call } = CONTENDERS[id];
      const floor = engine === 'redis' ? undefined : samples[way].get(FLOORS[engine]);
      return {
        way,
        contender: name,
        call,
        perSecond: spread(rates(own)),
        p50Ms: spread(own.map(({ p50Ms }) => p50Ms)),
        p99Ms: spread(own.map(({ p99Ms }) => p99Ms)),
        overFloor: floor === undefined ? undefined : ratio(rates(own), rates(floor)),
      };
    }),
  );
}

const FLOORS: Readonly<Record<'postgres' | 'sqlite', ContenderId>> = {
  postgres: 'floorPostgres',
  sqlite: 'floorSqlite',
};

function rates(samples: readonly Sample[]): readonly number[] {
  return samples.map(({ perSecond }) => perSecond);
}
