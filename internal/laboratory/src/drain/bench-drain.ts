/**
 * `pnpm bench:drain`: how many transitions a second a worker settles from the start of a backlog, at 2,000 and at 50,000 due
 * ones, on both stores; on PostgreSQL also beside an old snapshot with 60,000 settled since it was taken. A large backlog
 * must not slow the worker down. The control, which sorts all that is due for each attempt, must be slowed down. Then what a
 * payment costs, beside the floor of each engine and two queues. Prints a table, writes reports/bench-drain.json, and ends
 * with 1 where a target is missed.
 */
import { type Backlog, openBacklog } from '../load/backlog.ts';
import { postgresEngine, sqliteEngine } from '../load/engines.ts';
import { databaseUrl, startWarmPostgres } from '../load/postgres.ts';
import { interleave } from '../measure/measure.ts';
import { atTheEnd, cleanUp, type Found, makeFolder, runBenchmark } from '../measure/program.ts';
import { judgeApplying } from './judge-applying.ts';
import { type DrainTarget, judgeDrain } from './judge-drain.ts';
import { measureApplying } from './measure-applying.ts';
import { type OldSnapshot, openOldSnapshot } from './old-snapshot.ts';

const FULL = {
  small: 2000,
  large: 50_000,
  settledSince: 60_000,
  rounds: 7,
  count: 1000,
  control: 100,
  payments: 1500,
};
const SHORT: typeof FULL = {
  small: 40,
  large: 100,
  settledSince: 60,
  rounds: 1,
  count: 20,
  control: 10,
  payments: 20,
};

/** One line of the table: a backlog, and how it is drained. */
interface Contender {
  readonly name: string;
  readonly backlog: Backlog;
  readonly count: number;
  readonly isControl: boolean;
}

await runBenchmark('bench-drain', { full: FULL, short: SHORT }, bench);

async function bench(pace: typeof FULL, isShort: boolean): Promise<Found> {
  const applied = judgeApplying(await measureApplying(pace, isShort, await makeFolder()));
  await cleanUp(); // What runs on would run beside the backlogs.
  const folder = await makeFolder();
  const server = await startWarmPostgres(isShort);
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
    await settleBeside(pace, beside, await openOldSnapshot(databaseUrl(server.url, 'beside')));
    const name = `${many}, beside an old snapshot`;
    contenders.push({ name, backlog: beside, count: pace.count, isControl: false });
    targets.push({ large: name, small: few, isControl: false });
  }
  const rates = await interleave(contenders, pace.rounds, Math.random, async (own) => {
    await own.backlog.fill();
    return own.backlog.drain(own.count, own);
  });
  const drained = judgeDrain(new Map([...rates].map(([{ name }, own]) => [name, own])), targets);
  return { results: [...applied, ...drained] };
}

async function filled(backlog: Backlog): Promise<Backlog> {
  atTheEnd(backlog.close);
  await backlog.fill();
  return backlog;
}

/** Settles so many beside the snapshot, by a worker; what is due at the end is as much as before. */
async function settleBeside(pace: typeof FULL, backlog: Backlog, snapshot: OldSnapshot): Promise<void> {
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
