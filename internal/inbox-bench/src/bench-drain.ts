/**
 * `pnpm bench:drain`: how many transitions a second a worker settles from the start of a backlog, at 2,000 and at 50,000 due
 * ones, on both stores; on PostgreSQL also beside an old snapshot with 60,000 settled since it was taken. A large backlog
 * must not slow the worker down. The control, which sorts all that is due for each attempt, must be slowed down. Then what a
 * payment costs, beside the floor of each engine and two queues. Prints a table, writes reports/bench-drain.json, and ends
 * with 1 where a target is missed.
 *
 * --short takes a small backlog: its figures are noise, and no target is held against them. --report names another file.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment, interleave, printRows, writeReport } from '@payment-service/measure';
import { startPostgres } from '@payment-service/postgres-server';
import { judgeApplying } from './applying/judge-applying.ts';
import { measureApplying } from './applying/measure-applying.ts';
import { type Backlog, openBacklog } from './backlog.ts';
import { atTheEnd, cleanUp } from './clean-up.ts';
import { databaseUrl, postgresEngine, sqliteEngine } from './drain-engines.ts';
import { type DrainResult, type DrainTarget, judgeDrain } from './judge-drain.ts';
import { type OldSnapshot, openOldSnapshot } from './old-snapshot.ts';
import { runIn } from './run-in.ts';

const FULL = {
  small: 2000,
  large: 50_000,
  settledSince: 60_000,
  rounds: 7,
  count: 1000,
  control: 100,
  segments: 60,
  payments: 1500,
};
const SHORT = {
  small: 60,
  large: 200,
  settledSince: 100,
  rounds: 1,
  count: 40,
  control: 20,
  segments: 2,
  payments: 60,
};

const { values: flags } = parseArgs({
  options: { short: { type: 'boolean', default: false }, report: { type: 'string' } },
});
const report = flags.report ?? join(import.meta.dirname, '..', '..', '..', 'reports', 'bench-drain.json');
const pace = flags.short ? SHORT : FULL;

/** One line of the table: a backlog, and how it is drained. */
interface Contender {
  readonly name: string;
  readonly backlog: Backlog;
  readonly count: number;
  readonly isControl: boolean;
}

try {
  await bench();
} finally {
  await cleanUp();
}

async function bench(): Promise<void> {
  const applied = judgeApplying(await measureApplying(pace, await makeFolder()));
  await cleanUp(); // What runs on would run beside the backlogs.
  const folder = await makeFolder();
  const server = await startPostgres({ min_wal_size: '1GB' });
  atTheEnd(() => server.stop());
  await runIn(server.url, pace.segments);
  const contenders: Contender[] = [];
  const targets: DrainTarget[] = [];
  for (const engine of ['postgres', 'sqlite'] as const) {
    const open = (size: number, name: string): Promise<Backlog> =>
      engine === 'postgres'
        ? postgresEngine(server.url, name).then((own) => filled(openBacklog(own, size)))
        : sqliteEngine(folder, name).then((own) => filled(openBacklog(own, size)));
    const small = await open(pace.small, 'small');
    const large = await open(pace.large, 'large');
    const [few, many] = [titled(engine, pace.small), titled(engine, pace.large)];
    const control = { large: `control, ${many}`, small: `control, ${few}` };
    contenders.push(
      { name: few, backlog: small, count: pace.count, isControl: false },
      { name: many, backlog: large, count: pace.count, isControl: false },
      { name: control.small, backlog: small, count: pace.control, isControl: true },
      { name: control.large, backlog: large, count: pace.control, isControl: true },
    );
    targets.push({ large: many, small: few, isControl: false }, { ...control, isControl: true });
    if (engine === 'sqlite') continue;
    const beside = await open(pace.large, 'beside');
    await settleBeside(beside, await openOldSnapshot(databaseUrl(server.url, 'beside')));
    const name = `${many}, beside an old snapshot`;
    contenders.push({ name, backlog: beside, count: pace.count, isControl: false });
    targets.push({ large: name, small: few, isControl: false });
  }
  const rates = await interleave(contenders, pace.rounds, Math.random, async (own) => {
    await own.backlog.fill();
    return own.backlog.drain(own.count, own);
  });
  const drained = judgeDrain(new Map([...rates].map(([{ name }, own]) => [name, own])), targets);
  await tell([...applied, ...drained]);
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-service-bench-drain-'));
  atTheEnd(() => rm(folder, { recursive: true }));
  return folder;
}

async function filled(backlog: Backlog): Promise<Backlog> {
  atTheEnd(backlog.close);
  await backlog.fill();
  return backlog;
}

/** Settles so many beside the snapshot, by a worker; what is due at the end is as much as before. */
async function settleBeside(backlog: Backlog, snapshot: OldSnapshot): Promise<void> {
  atTheEnd(async () => {
    const due = await snapshot.due();
    await snapshot.end();
    if (due !== pace.large) throw new Error(`The old snapshot sees ${due} due transitions: it held nothing.`);
  });
  await backlog.fill(pace.large + pace.settledSince);
  await backlog.drain(pace.settledSince);
}

function titled(engine: string, size: number): string {
  return `${engine}, ${size.toLocaleString('en')} due`;
}

async function tell(results: readonly DrainResult[]): Promise<void> {
  console.log(`Node ${process.version}, ${environment().cores} cores; ${pace.rounds} rounds, medians\n`);
  printRows(
    ['', 'value', 'unit', 'target', ''],
    results.map(({ name, value, unit, target, bound, met }) => [
      name,
      value < 100 ? value.toFixed(2) : Math.round(value).toLocaleString('en'),
      unit,
      target === null ? '' : `${bound} ${target}`,
      target === null ? '' : met ? 'met' : 'MISSED',
    ]),
  );
  await writeReport(report, { name: 'bench-drain', isShort: flags.short, pace, results });
}
