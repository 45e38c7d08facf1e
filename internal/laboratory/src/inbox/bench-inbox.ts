/**
 * `pnpm bench:inbox`: durable callbacks a second and their acknowledgement, on both stores, beside the floor of the same
 * engine and beside two queues. Prints tables, writes reports/bench-inbox.json, and ends with 1 where a target is missed.
 */
import { startWarmPostgres } from '../load/postgres.ts';
import { atTheEnd, makeFolder, runBenchmark } from '../measure/program.ts';
import { BENCHED } from './contenders.ts';
import { judgeTarget, measurements, measurementTables, TARGETS } from './judge.ts';
import { type HostedContender, hostContender, measure } from './measure.ts';
import { startRedis } from './redis-server.ts';

const FULL = { rounds: 45, count: 1000, concurrency: 32 };
const SHORT = { rounds: 1, count: 20, concurrency: 8 };

await runBenchmark('bench-inbox', { full: FULL, short: SHORT }, async (pace, isShort) => {
  const folder = await makeFolder();
  const postgres = await startWarmPostgres(isShort);
  const redis = await startRedis(folder);
  const redisPort = typeof redis === 'number' ? redis : undefined;
  const contenders: HostedContender[] = [];
  for (const name of BENCHED) {
    if (name === 'bullmq' && redisPort === undefined) continue;
    const contender = await hostContender(name, { postgresUrl: postgres.url, folder, redisPort });
    atTheEnd(() => contender.host.end());
    contenders.push(contender);
  }
  const measured = await measure(contenders, pace);
  const missing = typeof redis === 'string' ? [`bullmq: ${redis}`] : [];
  for (const line of missing) console.log(`  ${line}`);
  const rows = measurements(measured);
  const results = TARGETS.flatMap((target) => judgeTarget(target, measured) ?? []);
  return { results, tables: measurementTables(rows), missing, measurements: rows };
});
