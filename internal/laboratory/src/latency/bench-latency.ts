/**
 * `pnpm bench:latency`: how long a callback takes from its request to the commit of its effect, at 1, 100 and 500 a second, in
 * one process that receives and works, and in two; beside graphile-worker. Prints a table, writes reports/bench-latency.json,
 * and ends with 1 where a target is missed. The control, a worker that does not listen, must be slow.
 */
import { join } from 'node:path';
import { postgresEngine, sqliteEngine } from '../load/engines.ts';
import { databaseUrl, startWarmPostgres } from '../load/postgres.ts';
import type { Way } from '../load/program-process.ts';
import { atTheEnd, makeFolder, runBenchmark } from '../measure/program.ts';
import { judgeLatency } from './judge-latency.ts';
import { type LatencyPace, measureLatency, type Setup } from './measure-latency.ts';

const FULL: LatencyPace = {
  rounds: 3,
  warmUp: 20,
  rates: [
    { perSecond: 1, callbacks: 4 },
    { perSecond: 100, callbacks: 200 },
    { perSecond: 500, callbacks: 1000 },
  ],
};
const SHORT: LatencyPace = { rounds: 1, warmUp: 1, rates: [{ perSecond: 100, callbacks: 5 }] };
const SETUPS: readonly (readonly [Way, 1 | 2])[] = [
  ['pg', 1],
  ['pg', 2],
  ['Knex', 1],
  ['Knex', 2],
  ['SQLite', 1],
  ['graphile-worker', 1],
  ['graphile-worker', 2],
  ['pg, not listening', 2],
];

await runBenchmark('bench-latency', { full: FULL, short: SHORT }, async (pace, isShort) => {
  const folder = await makeFolder();
  const server = await startWarmPostgres(isShort, { max_connections: '200' });
  const setups: Setup[] = [];
  for (const [index, [way, processes]] of SETUPS.entries()) {
    const name = `latency_${index}`;
    const isFile = way === 'SQLite';
    const { close } = await (isFile ? sqliteEngine(folder, name) : postgresEngine(server.url, name));
    if (isFile) atTheEnd(close);
    else await close();
    setups.push({ way, processes, at: isFile ? join(folder, `${name}.db`) : databaseUrl(server.url, name) });
  }
  return { results: judgeLatency(await measureLatency(setups, pace)) };
});
