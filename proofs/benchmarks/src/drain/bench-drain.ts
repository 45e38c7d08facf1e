/**
 * `pnpm lab bench:drain`: how many transitions a second a worker settles from the start of a backlog, of 2,000 and of 50,000 due ones,
 * on both stores; on PostgreSQL also beside an old snapshot. A large backlog must not slow the worker down; the control, which
 * sorts all of it for each attempt, must slow down. Also how soon a new callback has its effect behind 200,000, beside two queues;
 * the cost of a payment beside a floor and queues, and several processes on one backlog. Prints a table, writes
 * reports/bench-drain.json, and exits with 1 if a target is missed. Parts run alone: applying, backlogs, newest, processes.
 */

import { type Backlog, openBacklog } from '@payment-service/durability/load/backlog.ts';
import { postgresEngine, sqliteEngine } from '@payment-service/durability/load/engines.ts';
import { databaseUrl, startWarmPostgres } from '@payment-service/durability/load/postgres.ts';
import { askProgram, startProgram } from '@payment-service/durability/load/program.ts';
import { interleave, ratio, spread } from '@payment-service/durability/measure/measure.ts';
import {
  atTheEnd,
  cleanUp,
  type Found,
  makeFolder,
  runBenchmark,
} from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';
import { until } from '@payment-service/durability/measure/until.ts';
import pg from 'pg';
import { judgeApplying, METERED, openMeter, readWork } from './applying.ts';
import { judgeNewest } from './newest.ts';

const FULL = {
  small: 2000,
  large: 50_000,
  settledSince: 60_000,
  rounds: 7,
  count: 1000,
  control: 100,
  payments: 1500,
  /** Of a backlog that several processes share, in three rounds: V8 compiles the code of eight for the first 8,000. */
  shared: 40_000,
  /** While new callbacks arrive. */
  behind: 200_000,
  behindSome: 10_000,
  behindCount: 10_000,
  newest: 100,
  newestEveryMs: 100,
  newestWithinMs: 30_000,
};
const SHORT: typeof FULL = {
  small: 40,
  large: 100,
  settledSince: 60,
  rounds: 1,
  count: 20,
  control: 10,
  payments: 20,
  shared: 60,
  behind: 200,
  behindSome: 20,
  behindCount: 120,
  newest: 5,
  newestEveryMs: 5,
  newestWithinMs: 2000,
};

const titled = (engine: string, size: number): string => `${engine}, ${size.toLocaleString('en')} due`;

/** One line of the table: a backlog, and how it is drained. */
interface Contender {
  readonly name: string;
  readonly backlog: Backlog;
  readonly count: number;
  readonly isControl: boolean;
}

/** Two backlogs that are compared. */
interface Target {
  readonly large: string;
  readonly small: string;
  /** The control, whose claims sort all due transitions, must stay below. */
  readonly isControl: boolean;
}
const AT_LEAST = 0.8;
const PROCESSES = [1, 2, 4, 8];
/** How much of the rate of one process several have on one backlog, and how much more work they may make for PostgreSQL. */
const AT_LEAST_TOGETHER = 0.95;
const MAX_WORK = 1.05;

/** Each can be run alone: `pnpm lab bench:drain newest`. */
const PARTS: Readonly<Record<string, (pace: typeof FULL, isShort: boolean) => Promise<readonly Result[]>>> = {
  applying: judgeApplying,
  backlogs: measureBacklogs,
  newest: async (pace, isShort) =>
    judgeNewest((await startWarmPostgres(isShort, METERED)).url, {
      ...pace,
      rounds: Math.min(pace.rounds, 3),
    }),
  processes: measureTogether,
};

export default function (): Promise<void> {
  return runBenchmark('bench-drain', { full: FULL, short: SHORT }, bench, Object.keys(PARTS));
}

async function bench(pace: typeof FULL, isShort: boolean, parts: readonly string[]): Promise<Found> {
  const results: Result[] = [];
  for (const part of parts) {
    results.push(...((await PARTS[part]?.(pace, isShort)) ?? []));
    await cleanUp(); // Otherwise its servers would keep running during the next part.
  }
  return { results };
}

async function measureBacklogs(pace: typeof FULL, isShort: boolean): Promise<readonly Result[]> {
  const folder = await makeFolder();
  const server = await startWarmPostgres(isShort, METERED);
  const contenders: Contender[] = [];
  const targets: Target[] = [];
  const open = (engine: 'postgres' | 'sqlite', size: number, name: string): Promise<Backlog> =>
    engine === 'postgres'
      ? postgresEngine(server.url, name).then((own) => filled(openBacklog(own, size)))
      : sqliteEngine(folder, name).then((own) => filled(openBacklog(own, size)));
  for (const engine of ['postgres', 'sqlite'] as const) {
    const small = await open(engine, pace.small, 'small');
    const large = await open(engine, pace.large, 'large');
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
    const beside = await open(engine, pace.large, 'beside');
    await settleBeside(pace, beside, databaseUrl(server.url, 'beside'));
    const name = `${many}, beside an old snapshot`;
    contenders.push({ name, backlog: beside, count: pace.count, isControl: false });
    targets.push({ large: name, small: few, isControl: false });
  }
  const rates = await interleave(contenders, pace.rounds, Math.random, async (own) => {
    await own.backlog.fill();
    return own.backlog.drain(own.count, own);
  });
  return judgeDrain(new Map([...rates].map(([{ name }, own]) => [name, own])), targets);
}

async function measureTogether(pace: typeof FULL, isShort: boolean): Promise<readonly Result[]> {
  const server = await startWarmPostgres(isShort, METERED);
  const shared = await filled(openBacklog(await postgresEngine(server.url, 'shared'), pace.shared));
  const url = databaseUrl(server.url, 'shared');
  const meter = await openMeter(url);
  const together = await interleave(PROCESSES, Math.min(pace.rounds, 3), Math.random, (processes) =>
    drainTogether(shared, { meter, url }, processes),
  );
  return judgeTogether(together);
}

/** What processes that share a backlog settle, and what that makes PostgreSQL do for each payment. */
interface Shared {
  readonly perSecond: number;
  readonly statements: number;
  readonly walBytes: number;
}

async function drainTogether(
  backlog: Backlog,
  { meter, url }: { readonly meter: pg.Client; readonly url: string },
  processes: number,
): Promise<Shared> {
  const programs = Array.from({ length: processes }, () => startProgram());
  for (const one of programs) await askProgram(one, { kind: 'open', way: 'pg', at: url, receives: false });
  await backlog.fill();
  const due = await backlog.due();
  const before = await readWork(meter);
  const started = performance.now();
  for (const one of programs) await askProgram(one, { kind: 'work' });
  let looks = 0;
  const isOver = async (): Promise<boolean> => {
    looks += 1;
    const text = 'select 1 from payment_inbox.transition where next_at is not null limit 1';
    return (await meter.query(text)).rowCount === 0;
  };
  await until('Payments are due.', isOver, { everyMs: 5, withinMs: 120_000 });
  const seconds = (performance.now() - started) / 1000;
  const after = await readWork(meter);
  for (const one of programs) await one.end();
  return {
    perSecond: due / seconds,
    statements: (after.statements - before.statements - looks) / due,
    walBytes: (after.walBytes - before.walBytes) / due,
  };
}

/** Beside one process, within each round. */
export function judgeTogether(together: ReadonlyMap<number, readonly Shared[]>): readonly Result[] {
  const one = together.get(1) ?? [];
  return [...together].flatMap(([processes, own]) => {
    const name = `postgres, one backlog, processes: ${processes}`;
    const rate = told(name, 'per second', spread(own.map(({ perSecond }) => perSecond)));
    if (processes === 1) return [rate];
    const over = (what: keyof Shared): ReturnType<typeof ratio> =>
      ratio(
        own.map((each) => each[what]),
        one.map((each) => each[what]),
      );
    return [
      rate,
      judge(`${name}, over one`, 'ratio', over('perSecond'), 'at least', AT_LEAST_TOGETHER),
      judge(`${name}, statements over one`, 'ratio', over('statements'), 'at most', MAX_WORK),
      judge(`${name}, log over one`, 'ratio', over('walBytes'), 'at most', MAX_WORK),
    ];
  });
}

async function filled(backlog: Backlog): Promise<Backlog> {
  atTheEnd(backlog.close);
  await backlog.fill();
  return backlog;
}

/**
 * Settles transitions while a REPEATABLE READ transaction is open, like that of a long report or a dump. No vacuum removes what
 * it may still see. In the end as many transitions are due as before.
 */
async function settleBeside(pace: typeof FULL, backlog: Backlog, url: string): Promise<void> {
  const snapshot = new pg.Client({ connectionString: url });
  await snapshot.connect();
  await snapshot.query('begin isolation level repeatable read');
  /** As seen by the snapshot, which its first statement takes: the rows that are settled later are kept for it. */
  const due = async (): Promise<number | undefined> => {
    const text = 'select count(*)::int as n from payment_inbox.transition where next_at is not null';
    return (await snapshot.query<{ n: number }>(text)).rows[0]?.n;
  };
  await due();
  atTheEnd(async () => {
    const seen = await due();
    await snapshot.end();
    if (seen !== pace.large)
      throw new Error(`The old snapshot sees ${seen} due transitions: it held nothing.`);
  });
  await backlog.fill(pace.large + pace.settledSince);
  await backlog.drain(pace.settledSince);
}

/** The rates, and for each target the median of the ratios within the rounds. */
export function judgeDrain(
  rates: ReadonlyMap<string, readonly number[]>,
  targets: readonly Target[],
): readonly Result[] {
  const judged = targets.map(({ large, small, isControl }) => {
    const [own, over] = [rates.get(large), rates.get(small)];
    if (own === undefined || over === undefined)
      throw new Error(`Not measured: ${own === undefined ? large : small}.`);
    const bound = isControl ? 'below' : 'at least';
    return judge(`${large}, over ${small}`, 'ratio', ratio(own, over), bound, AT_LEAST);
  });
  return [...[...rates].map(([name, own]) => told(name, 'per second', spread(own))), ...judged];
}
