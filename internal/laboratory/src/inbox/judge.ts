import { ratio, type Spread, spread } from '../measure/measure.ts';
import { judge, type Result } from '../measure/results.ts';
import { figure, type Table, withRange } from '../measure/tables.ts';
import { CONTENDERS } from './contenders.ts';
import type { Measured, Way } from './measure.ts';

/** A lower bound for the callbacks a second of one contender over those of another. */
export interface Target {
  readonly way: Way;
  readonly contender: string;
  readonly over: string;
  readonly atLeast: number;
}

/** docs/inbox-benchmark.md says why these. */
export const TARGETS: readonly Target[] = [
  { way: 'store', contender: 'inbox, postgres', over: 'grouped floor, postgres', atLeast: 0.8 },
  { way: 'store', contender: 'inbox, sqlite', over: 'grouped floor, sqlite', atLeast: 0.8 },
  { way: 'http', contender: 'inbox, postgres', over: 'pg-boss', atLeast: 1 },
  { way: 'http', contender: 'inbox, sqlite', over: 'pg-boss', atLeast: 1 },
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
export function judgeTarget(target: Target, all: readonly Measured[]): Result | undefined {
  const { way, contender, over, atLeast } = target;
  const [own, other] = [ratesOf(all, way, contender), ratesOf(all, way, over)];
  if (own === undefined) throw new Error(`A target names ${contender}, which was not measured.`);
  if (other === undefined) return undefined;
  const where = way === 'store' ? 'at the store' : 'over HTTP';
  return judge(`${where}: ${contender} over ${over}`, 'ratio', ratio(own, other), 'at least', atLeast);
}

export function measurements(all: readonly Measured[]): readonly Measurement[] {
  return all.map(({ way, contender, samples }) => {
    const { engine, call } = CONTENDERS[contender] ?? { engine: '', call: '' };
    const perSecond = samples.map((one) => one.perSecond);
    const floor = ratesOf(all, way, `floor, ${engine}`);
    return {
      way,
      contender,
      call,
      perSecond: spread(perSecond),
      p50Ms: spread(samples.map(({ p50Ms }) => p50Ms)),
      p99Ms: spread(samples.map(({ p99Ms }) => p99Ms)),
      overFloor: floor && ratio(perSecond, floor),
    };
  });
}

export function measurementTables(all: readonly Measurement[]): readonly Table[] {
  const titles: Readonly<Record<Way, string>> = {
    http: 'Over HTTP, verified, from the request to the answer',
    store: 'At the store, called directly',
  };
  return Object.entries(titles).map(([way, title]) => ({
    title,
    head: ['', 'callbacks/s', 'p50 ms', 'p99 ms', 'times the floor', ''],
    rows: all
      .filter((one) => one.way === way)
      .map(({ contender, perSecond, p50Ms, p99Ms, overFloor, call }) => {
        const medians = [perSecond, p50Ms, p99Ms].map(({ median }) => figure(median));
        return [contender, ...medians, overFloor === undefined ? '' : withRange(overFloor), call];
      }),
  }));
}

function ratesOf(all: readonly Measured[], way: Way, contender: string): readonly number[] | undefined {
  const own = all.find((one) => one.way === way && one.contender === contender);
  return own?.samples.map(({ perSecond }) => perSecond);
}
