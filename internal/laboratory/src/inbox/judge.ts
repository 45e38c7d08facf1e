import { ratio, type Spread, spread } from '../measure/measure.ts';
import { judge, type Result } from '../measure/results.ts';
import { figure, type Table, withRange } from '../measure/tables.ts';
import { BENCHED, CONTENDERS, type ContenderId } from './contender.ts';
import { type Sample, type Samples, WAYS, type Way } from './measure.ts';

/** A lower bound for the callbacks a second of one contender over those of another. */
export interface Target {
  readonly way: Way;
  readonly contender: ContenderId;
  readonly over: ContenderId;
  readonly atLeast: number;
}

/** docs/inbox-benchmark.md says why these. */
export const TARGETS: readonly Target[] = [
  { way: 'store', contender: 'inboxPostgres', over: 'groupedPostgres', atLeast: 0.8 },
  { way: 'store', contender: 'inboxSqlite', over: 'groupedSqlite', atLeast: 0.8 },
  { way: 'http', contender: 'inboxPostgres', over: 'pgBoss', atLeast: 1 },
  { way: 'http', contender: 'inboxSqlite', over: 'pgBoss', atLeast: 1 },
];

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
export function judgeTarget({ way, contender, over, atLeast }: Target, samples: Samples): Result | undefined {
  const [own, other] = [samples[way].get(contender), samples[way].get(over)];
  if (own === undefined) throw new Error(`A target names ${contender}, which was not measured.`);
  if (other === undefined) return undefined;
  const name = `${way === 'store' ? 'at the store' : 'over HTTP'}: ${CONTENDERS[contender].name} over ${CONTENDERS[over].name}`;
  return judge(name, 'ratio', ratio(rates(own), rates(other)), 'at least', atLeast);
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

const TITLES: Readonly<Record<Way, string>> = {
  http: 'Over HTTP, verified, from the request to the answer',
  store: 'At the store, called directly',
};

export function measurementTables(all: readonly Measurement[]): readonly Table[] {
  return (['http', 'store'] as const).map((way) => ({
    title: TITLES[way],
    head: ['', 'callbacks/s', 'p50 ms', 'p99 ms', 'times the floor', ''],
    rows: all.flatMap(({ way: own, contender, perSecond, p50Ms, p99Ms, overFloor, call }) => {
      const medians = [perSecond, p50Ms, p99Ms].map(({ median }) => figure(median));
      return own === way
        ? [[contender, ...medians, overFloor === undefined ? '' : withRange(overFloor), call]]
        : [];
    }),
  }));
}

const FLOORS = { postgres: 'floorPostgres', sqlite: 'floorSqlite' } as const;

function rates(samples: readonly Sample[]): readonly number[] {
  return samples.map(({ perSecond }) => perSecond);
}
