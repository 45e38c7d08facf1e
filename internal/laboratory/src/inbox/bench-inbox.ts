/**
 * `pnpm bench:inbox`: durable callbacks a second and their acknowledgement, on both stores, beside the floor of the same
 * engine and beside two queues. Prints tables, writes reports/bench-inbox.json, and ends with 1 where a target is missed.
 */
import { freePort } from '@payment-service/postgres-server';
import { startWarmPostgres } from '../load/postgres.ts';
import { atTheEnd, makeFolder, runBenchmark } from '../measure/program.ts';
import { BENCHED, type Engines } from './contender.ts';
import { HostedContender } from './hosted-contender.ts';
import { judgeTarget, measurements, measurementTables, TARGETS } from './judge.ts';
import { measure } from './measure.ts';
import { startRedis } from './redis-server.ts';

const FULL = { rounds: 45, count: 1000, concurrency: 32 };
const SHORT = { rounds: 1, count: 20, concurrency: 8 };

await runBenchmark('bench-inbox', { full: FULL, short: SHORT }, async (pace, isShort) => {
  const folder = await makeFolder();
  const postgres = await startWarmPostgres(isShort);
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
  const missing = typeof redis === 'string' ? [`bullmq: ${redis}`] : [];
  for (const line of missing) console.log(`  ${line}`);
  const rows = measurements(samples);
  const results = TARGETS.flatMap((target) => judgeTarget(target, samples) ?? []);
  return { results, tables: measurementTables(rows), missing, measurements: rows };
});
