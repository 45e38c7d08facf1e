/**
 * `pnpm bench:scale`: how long every call of the operator takes on PostgreSQL with a year of payments, made in SQL, and whether
 * keeping and settling take longer than with none. Prints a table, writes reports/bench-scale.json, and ends with 1 where a
 * call takes more than 50 ms, or an archived payment more than 250 bytes.
 *
 * --payments says how many; they take about 2 KB of disk each.
 */
import { openBacklog } from '../load/backlog.ts';
import { postgresEngine } from '../load/engines.ts';
import { databaseUrl, startWarmPostgres } from '../load/postgres.ts';
import { interleave, spread } from '../measure/measure.ts';
import { atTheEnd, runBenchmark } from '../measure/program.ts';
import { judge, told } from '../measure/results.ts';
import { figure } from '../measure/tables.ts';
import { fillScale } from './fill-scale.ts';
import { measureArchive, measureCalls } from './measure-calls.ts';

const FULL = { rounds: 15, payments: 10_000_000, settled: 500 };
const SHORT = { rounds: 1, payments: 5000, settled: 10 };
const AT_MOST_MS = 50;
const AT_MOST_BYTES = 250;

await runBenchmark('bench-scale', { full: FULL, short: SHORT }, async (pace, isShort) => {
  const { payments, rounds, settled } = pace;
  const server = await startWarmPostgres(isShort, { max_wal_size: '8GB', shared_buffers: '1GB' });
  const [small, large] = [
    await postgresEngine(server.url, 'small'),
    await postgresEngine(server.url, 'large'),
  ];
  const backlogs = { 'no payments': openBacklog(small, 0), them: openBacklog(large, 0) };
  for (const { fill, close } of Object.values(backlogs)) {
    atTheEnd(close);
    await fill();
  }
  const began = performance.now();
  await fillScale(databaseUrl(server.url, 'large'), payments);
  console.log(`${payments.toLocaleString('en')} payments made in ${seconds(began)} s\n`);
  const times = new Map(await measureCalls(large.store, payments, rounds));
  const settling = await interleave(Object.entries(backlogs), 3, Math.random, async ([, backlog]) => {
    await backlog.fill((await backlog.due()) + settled);
    return 1000 / (await backlog.drain(settled, { concurrency: 4 }));
  });
  for (const [[beside], own] of settling) times.set(`control: ms a settled payment, with ${beside}`, own);
  const { bytes, ms, archived } = await measureArchive(large.store, payments);
  const each = `bytes of each of ${figure(archived)} archived payments`;
  const results = [
    ...[...times].map(([name, own]) =>
      name.startsWith('control')
        ? told(name, 'ms', spread(own))
        : judge(name, 'ms', spread(own), 'at most', AT_MOST_MS),
    ),
    judge(each, 'bytes', bytes, 'at most', AT_MOST_BYTES),
    told('control: ms to archive a payment', 'ms', ms),
  ];
  const table = {
    title: 'The fastest and the slowest round, in ms',
    head: ['', 'fastest', 'slowest', ''],
    rows: [...times].map(([name, own]) => [name, figure(Math.min(...own)), figure(Math.max(...own)), '']),
  };
  return { results, tables: [table] };
});

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}
