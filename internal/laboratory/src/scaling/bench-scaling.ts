/**
 * `pnpm bench:scaling`: the inbox on PostgreSQL with 1, 2 and 4 processes that receive, and then as many that work off what
 * was received. Prints a table and writes reports/bench-scaling.json.
 */
import { createDatabase, databaseUrl, startWarmPostgres } from '../load/postgres.ts';
import { ratio, type Spread, spread } from '../measure/measure.ts';
import { atTheEnd, type Found, runBenchmark } from '../measure/program.ts';
import { judge } from '../measure/results.ts';
import { figure, withRange } from '../measure/tables.ts';
import { measureScaling, type ScalingPace, type ScalingSample } from './measure-scaling.ts';

const SIZES = [1, 2, 4];
const FULL: ScalingPace = { rounds: 7, count: 1600, concurrency: 64 };
const SHORT: ScalingPace = { rounds: 1, count: 16, concurrency: 8 };
/**
 * More processes on the same cores must not fall far behind one. In the intake each has a smaller share of the callbacks, so
 * its groups are smaller.
 */
const AT_LEAST = { intake: 0.5, drain: 0.8 };

await runBenchmark('bench-scaling', { full: FULL, short: SHORT }, async (pace, isShort) => {
  const server = await startWarmPostgres(isShort);
  const pool = await createDatabase(server.url, 'scaling', 1);
  atTheEnd(() => pool.end());
  const at = databaseUrl(server.url, 'scaling');
  return found(await measureScaling(SIZES, pace, { server, pool, at }), pace);
});

function found(samples: ReadonlyMap<number, readonly ScalingSample[]>, pace: ScalingPace): Found {
  const rows = (['intake', 'drain'] as const).flatMap((stage) =>
    [...samples].map(([processes, own]) => {
      const of = (pick: (sample: ScalingSample) => number): Spread => spread(own.map(pick));
      return {
        stage,
        processes,
        perSecond: of((sample) => sample[stage].perSecond),
        programsMs: of((sample) => sample[stage].programsMs),
        postgresMs: of((sample) => sample[stage].postgresMs),
        overOne: ratio(rates(own, stage), rates(samples.get(1) ?? [], stage)),
      };
    }),
  );
  const table = {
    title: `${pace.concurrency} callbacks at a time`,
    head: ['', 'processes', 'a second', 'times one', 'CPU ms, programs', 'CPU ms, PostgreSQL', ''],
    rows: rows.map(({ stage, processes, perSecond, overOne, programsMs, postgresMs }) => {
      const cpuMs = [programsMs, postgresMs].map(({ median }) => figure(median));
      return [stage, String(processes), withRange(perSecond), withRange(overOne), ...cpuMs, ''];
    }),
  };
  const results = rows
    .filter(({ processes }) => processes > 1)
    .map(({ stage, processes, overOne }) =>
      judge(`${stage}: ${processes} processes over one`, 'ratio', overOne, 'at least', AT_LEAST[stage]),
    );
  return { results, tables: [table], measurements: rows };
}

function rates(samples: readonly ScalingSample[], stage: keyof ScalingSample): readonly number[] {
  return samples.map((sample) => sample[stage].perSecond);
}
