/**
 * `pnpm lab bench:inbox`: durable callbacks per second on both stores, compared with the floor of the same engine and with pg-boss.
 * Prints tables, writes reports/bench-inbox.json, and exits with 1 if a target is missed.
 */
import { startWarmPostgres } from '@payment-service/durability/load/postgres.ts';
import { ratio, type Spread, spread } from '@payment-service/durability/measure/measure.ts';
import { atTheEnd, makeFolder, runBenchmark } from '@payment-service/durability/measure/program.ts';
import { judge, type Result } from '@payment-service/durability/measure/results.ts';
import { figure, type Table, withRange } from '@payment-service/durability/measure/tables.ts';
import { BENCHED, CONTENDERS } from './contenders.ts';
import { type HostedContender, hostContender, type Measured, measure, type Way } from './measure.ts';

const FULL = { rounds: 45, count: 1000, concurrency: 32 };
const SHORT = { rounds: 1, count: 20, concurrency: 8 };

/** A lower bound for the ratio of one contender's callbacks per second to another's. */
interface Target {
  readonly way: Way;
  readonly contender: string;
  readonly over: string;
  readonly atLeast: number;
}

/** docs/benchmarks.md explains these values. */
export const TARGETS: readonly Target[] = [
  { way: 'store', contender: 'inbox, postgres', over: 'floor, postgres', atLeast: 1 },
  { way: 'store', contender: 'inbox, sqlite', over: 'floor, sqlite', atLeast: 1 },
  { way: 'http', contender: 'inbox, postgres', over: 'pg-boss', atLeast: 1 },
  { way: 'http', contender: 'inbox, sqlite', over: 'pg-boss', atLeast: 1 },
];

export default function (): Promise<void> {
  return runBenchmark('bench-inbox', { full: FULL, short: SHORT }, async (pace, isShort) => {
    const folder = await makeFolder();
    const postgres = await startWarmPostgres(isShort);
    const contenders: HostedContender[] = [];
    for (const name of BENCHED) {
      const contender = await hostContender(name, { postgresUrl: postgres.url, folder });
      atTheEnd(() => contender.host.end());
      contenders.push(contender);
    }
    const measured = await measure(contenders, pace);
    const rows = measurements(measured);
    const results = TARGETS.map((target) => judgeTarget(target, measured));
    return { results, tables: measurementTables(rows), measurements: rows };
  });
}

/** One row of the tables. */
export interface Measurement {
  readonly way: Way;
  readonly contender: string;
  readonly call: string;
  readonly perSecond: Spread;
  /** Callbacks per second, divided by those of the same engine's floor in the same round. */
  readonly overFloor: Spread;
}

export function judgeTarget(target: Target, all: readonly Measured[]): Result {
  const { way, contender, over, atLeast } = target;
  const [own, other] = [ratesOf(all, way, contender), ratesOf(all, way, over)];
  const where = way === 'store' ? 'at the store' : 'over HTTP';
  return judge(`${where}: ${contender} over ${over}`, 'ratio', ratio(own, other), 'at least', atLeast);
}

export function measurements(all: readonly Measured[]): readonly Measurement[] {
  return all.map(({ way, contender, rates }) => {
    const { engine, call } = CONTENDERS[contender] ?? { engine: '', call: '' };
    const overFloor = ratio(rates, ratesOf(all, way, `floor, ${engine}`));
    return { way, contender, call, perSecond: spread(rates), overFloor };
  });
}

function measurementTables(all: readonly Measurement[]): readonly Table[] {
  const titles: Readonly<Record<Way, string>> = {
    http: 'Over HTTP, verified, from the request to the answer',
    store: 'At the store, called directly',
  };
  return Object.entries(titles).map(([way, title]) => ({
    title,
    head: ['', 'callbacks/s', 'times the floor', ''],
    rows: all
      .filter((one) => one.way === way)
      .map(({ contender, perSecond, overFloor, call }) => [
        contender,
        figure(perSecond.median),
        withRange(overFloor),
        call,
      ]),
  }));
}

function ratesOf(all: readonly Measured[], way: Way, contender: string): readonly number[] {
  const own = all.find((one) => one.way === way && one.contender === contender);
  if (own === undefined) throw new Error(`${contender} is compared, and was not measured.`);
  return own.rates;
}
