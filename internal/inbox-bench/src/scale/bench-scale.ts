/**
 * `pnpm bench:scale`: how long every call of the operator takes on PostgreSQL with a year of payments, made in SQL, and whether
 * keeping and settling take longer than with none. Prints a table, writes reports/bench-scale.json, and ends with 1 where a
 * call takes more than 50 ms, or an archived payment more than 250 bytes.
 *
 * --payments says how many; they take about 2 KB of disk each. --short makes few: its figures are noise, and no target is held
 * against them. --report names another file.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment, interleave, printRows, spread, writeReport } from '@payment-service/measure';
import { startPostgres } from '@payment-service/postgres-server';
import { openBacklog } from '../backlog.ts';
import { atTheEnd, cleanUp } from '../clean-up.ts';
import { databaseUrl, postgresEngine } from '../drain-engines.ts';
import { runIn } from '../run-in.ts';
import { fillScale } from './fill-scale.ts';
import { measureArchive } from './measure-archive.ts';
import { measureCalls } from './measure-calls.ts';

const { values: flags } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    payments: { type: 'string' },
    report: { type: 'string' },
  },
});
const folder = join(import.meta.dirname, '..', '..', '..', '..', 'reports');
const report = flags.report ?? join(folder, 'bench-scale.json');
const payments = Number(flags.payments ?? (flags.short ? 5000 : 10_000_000));
const pace = flags.short
  ? { rounds: 3, payments: 20, segments: 2 }
  : { rounds: 15, payments: 500, segments: 60 };
const AT_MOST_MS = 50;
const AT_MOST_BYTES = 250;

interface Result {
  readonly name: string;
  readonly value: number;
  /** Of all rounds. */
  readonly fastest: number;
  readonly slowest: number;
  readonly unit: string;
  readonly target: number | null;
  readonly met: boolean;
}

try {
  await bench();
} finally {
  await cleanUp();
}

async function bench(): Promise<void> {
  const server = await startPostgres({ min_wal_size: '1GB', max_wal_size: '8GB', shared_buffers: '1GB' });
  atTheEnd(() => server.stop());
  await runIn(server.url, pace.segments);
  const [small, large] = [
    await postgresEngine(server.url, 'small'),
    await postgresEngine(server.url, 'large'),
  ];
  const open = (engine: typeof small) => {
    const backlog = openBacklog(engine, 0);
    atTheEnd(backlog.close);
    return backlog;
  };
  const backlogs = { small: open(small), large: open(large) };
  for (const { fill } of Object.values(backlogs)) await fill();
  const began = performance.now();
  await fillScale(databaseUrl(server.url, 'large'), payments);
  console.log(`${payments.toLocaleString('en')} payments made in ${seconds(began)} s\n`);
  const calls = await measureCalls(large.store, payments, pace.rounds);
  const results: Result[] = [...calls].map(([name, times]) => {
    const { median } = spread(times);
    const isControl = name.startsWith('control');
    const target = isControl ? null : AT_MOST_MS;
    const met = target === null || median <= target;
    return {
      name,
      value: median,
      fastest: Math.min(...times),
      slowest: Math.max(...times),
      unit: 'ms',
      target,
      met,
    };
  });
  const rates = await interleave(Object.entries(backlogs), 3, Math.random, async ([, backlog]) => {
    await backlog.fill((await backlog.due()) + pace.payments);
    return 1000 / (await backlog.drain(pace.payments, { concurrency: 4 }));
  });
  for (const [[name], times] of rates) {
    const of = name === 'small' ? 'no payments' : 'them';
    const value = spread(times).median;
    results.push({
      name: `control: ms a settled payment, with ${of}`,
      value,
      fastest: Math.min(...times),
      slowest: Math.max(...times),
      unit: 'ms',
      target: null,
      met: true,
    });
  }
  const { bytes, ms, archived } = await measureArchive(large.store, payments);
  const one = (name: string, value: number, unit: string, target: number | null): Result => {
    const met = target === null || value <= target;
    return { name, value, fastest: value, slowest: value, unit, target, met };
  };
  results.push(
    one(`bytes of each of ${archived.toLocaleString('en')} archived payments`, bytes, 'bytes', AT_MOST_BYTES),
    one('control: ms to archive a payment', ms, 'ms', null),
  );
  await tell(results);
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}

async function tell(results: readonly Result[]): Promise<void> {
  console.log(`Node ${process.version}, ${environment().cores} cores; medians of ${pace.rounds} rounds\n`);
  printRows(
    ['', 'ms or bytes', 'fastest', 'slowest', 'at most', ''],
    results.map(({ name, value, fastest, slowest, target, met }) => [
      name,
      value.toFixed(1),
      fastest.toFixed(1),
      slowest.toFixed(1),
      target === null ? '' : String(target),
      target === null ? '' : met ? 'met' : 'MISSED',
    ]),
  );
  await writeReport(report, {
    name: 'bench-scale',
    isShort: flags.short,
    pace: { ...pace, generated: payments },
    results,
  });
}
