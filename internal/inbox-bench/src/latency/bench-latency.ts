/**
 * `pnpm bench:latency`: how long a callback takes from its request to the commit of its effect, at 1, 100 and 500 a second, in
 * one process that receives and works, and in two; beside graphile-worker. Prints a table, writes reports/bench-latency.json,
 * and ends with 1 where a target is missed. The control, a worker that does not listen, must be slow.
 *
 * --short sends a handful of callbacks: its figures are noise, and no target is held against them. --report names another file.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment, printRows, writeReport } from '@payment-service/measure';
import { startPostgres } from '@payment-service/postgres-server';
import pg from 'pg';
import { atTheEnd, cleanUp } from '../clean-up.ts';
import { databaseUrl, sqliteEngine } from '../drain-engines.ts';
import { runIn } from '../run-in.ts';
import { judgeLatency, type LatencyResult } from './judge-latency.ts';
import type { Way } from './latency-process.ts';
import { type LatencyPace, measureLatency, type Setup } from './measure-latency.ts';

const FULL: LatencyPace = {
  rounds: 3,
  rates: [
    { perSecond: 1, callbacks: 4 },
    { perSecond: 100, callbacks: 200 },
    { perSecond: 500, callbacks: 1000 },
  ],
};
const SHORT: LatencyPace = { rounds: 1, rates: [{ perSecond: 100, callbacks: 10 }] };
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

const { values: flags } = parseArgs({
  options: { short: { type: 'boolean', default: false }, report: { type: 'string' } },
});
const reports = join(import.meta.dirname, '..', '..', '..', '..', 'reports');
const report = flags.report ?? join(reports, 'bench-latency.json');
const pace = flags.short ? SHORT : FULL;
try {
  await bench();
} finally {
  await cleanUp();
}

async function bench(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-service-latency-'));
  atTheEnd(() => rm(folder, { recursive: true, force: true }));
  const server = await startPostgres({ min_wal_size: '1GB', max_connections: '200' });
  atTheEnd(() => server.stop());
  await runIn(server.url, flags.short ? 2 : 30);
  const setups: Setup[] = [];
  for (const [index, [way, processes]] of SETUPS.entries())
    setups.push({ way, processes, at: await newDatabase(way, index, { url: server.url, folder }) });
  await tell(judgeLatency(await measureLatency(setups, pace, atTheEnd)));
}

async function newDatabase(way: Way, index: number, at: { url: string; folder: string }): Promise<string> {
  if (way === 'SQLite') {
    const { close } = await sqliteEngine(at.folder, 'latency');
    atTheEnd(close);
    return join(at.folder, 'latency.db');
  }
  const name = `latency_${index}`;
  for (const [database, text] of [
    ['postgres', `create database ${name}`],
    [name, 'create table merchant_effect (id text not null, amount text not null)'],
  ] as const) {
    const client = new pg.Client({ connectionString: databaseUrl(at.url, database) });
    await client.connect();
    await client.query(text).finally(() => client.end());
  }
  return databaseUrl(at.url, name);
}

async function tell(results: readonly LatencyResult[]): Promise<void> {
  console.log(
    `Node ${process.version}, ${environment().cores} cores; from the request to the committed effect, in ms\n`,
  );
  printRows(
    ['', 'ms', 'target', ''],
    results.map(({ name, value, target, bound, met }) => [
      name,
      value.toFixed(2),
      target === null ? '' : `${bound} ${target}`,
      target === null ? '' : met ? 'met' : 'MISSED',
    ]),
  );
  await writeReport(report, { name: 'bench-latency', isShort: flags.short, pace, results });
}
