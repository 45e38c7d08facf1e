/**
 * `pnpm bench:inbox`: durable callbacks a second and their acknowledgement, on both stores, beside the floor of the same
 * engine and beside two queues. Prints tables, writes reports/bench-inbox.json, and ends with 1 where a target is missed.
 *
 * --short runs a handful of callbacks: its figures are noise, and no target is held against them. --rounds takes fewer
 * rounds than 45; --report names another file.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment, writeReport } from '@payment-service/measure';
import { freePort, startPostgres } from '@payment-service/postgres-server';
import { atTheEnd, cleanUp } from './clean-up.ts';
import { BENCHED, type Engines } from './contender.ts';
import { HostedContender } from './hosted-contender.ts';
import { judge, measurements } from './judge.ts';
import { measure, type Samples } from './measure.ts';
import { printMeasurements, printResults } from './print-tables.ts';
import { startRedis } from './redis-server.ts';
import { runIn } from './run-in.ts';
import { TARGETS } from './targets.ts';

const FULL = { rounds: 45, count: 1000, concurrency: 32 };
const SHORT = { rounds: 2, count: 60, concurrency: 8 };
/** Files of the write-ahead log, 16 MB each; a min_wal_size of 1 GB holds 64. */
const SEGMENTS = { full: 60, short: 2 };

const { values: flags } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    rounds: { type: 'string', default: String(FULL.rounds) },
    report: { type: 'string' },
  },
});
const report = flags.report ?? join(import.meta.dirname, '..', '..', '..', 'reports', 'bench-inbox.json');
const pace = flags.short ? SHORT : { ...FULL, rounds: Number(flags.rounds) };
try {
  await bench();
} finally {
  await cleanUp();
}

async function bench(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-service-bench-inbox-'));
  atTheEnd(() => rm(folder, { recursive: true }));
  const postgres = await startPostgres({ min_wal_size: '1GB' });
  atTheEnd(() => postgres.stop());
  await runIn(postgres.url, flags.short ? SEGMENTS.short : SEGMENTS.full);
  const redis = await startRedis(folder, await freePort());
  if (typeof redis !== 'string') atTheEnd(() => redis.stop());
  const engines: Engines = {
    postgresUrl: postgres.url,
    folder,
    redisPort: typeof redis === 'string' ? undefined : redis.port,
  };
  const contenders: HostedContender[] = [];
  for (const id of BENCHED) {
    if (id === 'bullmq' && typeof redis === 'string') continue;
    const contender = await HostedContender.open(id, engines);
    atTheEnd(() => contender.close());
    contenders.push(contender);
  }
  const samples = await measure(contenders, { ...pace, random: Math.random });
  await tell(samples, typeof redis === 'string' ? [`bullmq: ${redis}`] : []);
}

async function tell(samples: Samples, missing: readonly string[]): Promise<void> {
  console.log(
    `Node ${process.version}, ${environment().cores} cores; ${pace.concurrency} callbacks at a time`,
  );
  const rows = measurements(samples);
  const results = TARGETS.flatMap((target) => judge(target, samples) ?? []);
  printMeasurements(rows, missing);
  printResults(results);
  await writeReport(report, {
    name: 'bench-inbox',
    isShort: flags.short,
    pace,
    missing,
    results,
    measurements: rows,
  });
}
