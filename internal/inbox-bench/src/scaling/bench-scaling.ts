/**
 * `pnpm bench:scaling`: the inbox on PostgreSQL with 1, 2 and 4 processes that receive, and then as many that work off what
 * was received. Prints a table and writes reports/bench-scaling.json.
 *
 * --short runs a handful of callbacks: its figures are noise, and no target is held against them. --report names another
 * file.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment, printRows, ratio, type Spread, spread, writeReport } from '@payment-service/measure';
import { startPostgres } from '@payment-service/postgres-server';
import pg from 'pg';
import { atTheEnd, cleanUp } from '../clean-up.ts';
import { runIn } from '../run-in.ts';
import { measureScaling, type ScalingPace, type ScalingSample } from './measure-scaling.ts';

const SIZES = [1, 2, 4];
const FULL: ScalingPace = { rounds: 7, count: 1600, concurrency: 64 };
const SHORT: ScalingPace = { rounds: 2, count: 40, concurrency: 8 };
/**
 * More processes on the same cores must not fall far behind one. In the intake each has a smaller share of the callbacks, so
 * its groups are smaller.
 */
const AT_LEAST = { intake: 0.5, drain: 0.8 };

const { values: flags } = parseArgs({
  options: { short: { type: 'boolean', default: false }, report: { type: 'string' } },
});
const folder = join(import.meta.dirname, '..', '..', '..', '..', 'reports');
const report = flags.report ?? join(folder, 'bench-scaling.json');
const pace = flags.short ? SHORT : FULL;
try {
  await bench();
} finally {
  await cleanUp();
}

async function bench(): Promise<void> {
  const server = await startPostgres({ min_wal_size: '1GB' });
  atTheEnd(() => server.stop());
  await runIn(server.url, flags.short ? 2 : 60);
  const pool = new pg.Pool({ connectionString: server.url, max: 1 });
  atTheEnd(() => pool.end());
  await pool.query('create table credit (reference text not null, amount text not null)');
  await tell(await measureScaling(SIZES, pace, { server, pool }));
}

async function tell(samples: ReadonlyMap<number, readonly ScalingSample[]>): Promise<void> {
  console.log(
    `Node ${process.version}, ${environment().cores} cores; ${pace.concurrency} callbacks at a time`,
  );
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
  printRows(
    ['', 'processes', 'a second', 'times one', 'CPU ms, programs', 'CPU ms, PostgreSQL', ''],
    rows.map(({ stage, processes, perSecond, overOne, programsMs, postgresMs }) => [
      stage,
      String(processes),
      withRange(perSecond, 0),
      withRange(overOne, 2),
      programsMs.median.toFixed(2),
      postgresMs.median.toFixed(2),
      '',
    ]),
  );
  const results = rows
    .filter(({ processes }) => processes > 1)
    .map(({ stage, processes, overOne }) => ({
      name: `${stage}: ${processes} processes over one`,
      value: overOne.median,
      unit: 'ratio',
      target: AT_LEAST[stage],
      met: overOne.median >= AT_LEAST[stage],
    }));
  console.log('\nTargets');
  printRows(
    ['', 'ratio', 'at least', ''],
    results.map(({ name, value, target, met }) => [
      name,
      value.toFixed(2),
      target.toFixed(2),
      met ? 'met' : 'MISSED',
    ]),
  );
  await writeReport(report, {
    name: 'bench-scaling',
    isShort: flags.short,
    pace,
    results,
    measurements: rows,
  });
}

function rates(samples: readonly ScalingSample[], stage: keyof ScalingSample): readonly number[] {
  return samples.map((sample) => sample[stage].perSecond);
}

function withRange({ median, p10, p90 }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${p10.toFixed(digits)} to ${p90.toFixed(digits)})`;
}
