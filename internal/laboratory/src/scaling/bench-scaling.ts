/**
 * `pnpm bench:scaling`: the inbox on PostgreSQL with 1, 2 and 4 processes that receive, and then as many that process the
 * backlog. Prints a table and writes reports/bench-scaling.json.
 */
import { createDatabase, databaseUrl, serverCpuMs, startWarmPostgres } from '../load/postgres.ts';
import { askProgram, type ProgramRequest, startProgram } from '../load/program.ts';
import type { Child } from '../measure/child.ts';
import { interleave, ratio, type Spread, spread } from '../measure/measure.ts';
import { atTheEnd, type Found, runBenchmark } from '../measure/program.ts';
import { judge } from '../measure/results.ts';
import { figure, withRange } from '../measure/tables.ts';

const SIZES = [1, 2, 4];
/** The callbacks of one slice, and how many are under way at a time; the processes of the slice share both. */
const FULL = { rounds: 7, count: 1600, concurrency: 64 };
const SHORT: typeof FULL = { rounds: 1, count: 16, concurrency: 8 };
/**
 * More processes on the same cores must not be much slower than one. In the intake each has a smaller share of the callbacks,
 * so its groups are smaller.
 */
const AT_LEAST = { intake: 0.5, drain: 0.8 };
const TABLES = ['callback', 'transition', 'body', 'delivery', 'expectation', 'tally'];

interface Stage {
  readonly perSecond: number;
  /** The programs' processor time per callback, in milliseconds. */
  readonly programsMs: number;
  /** PostgreSQL's processor time per callback. NaN without procfs. */
  readonly postgresMs: number;
}
type Sample = Readonly<Record<keyof typeof AT_LEAST, Stage>>;

export default function (): Promise<void> {
  return runBenchmark('bench-scaling', { full: FULL, short: SHORT }, async (pace, isShort) =>
    found(await measure(pace, isShort), pace),
  );
}

/**
 * Times the intake and the drain of the same callbacks for each number of processes in `SIZES`: every round runs each size
 * once, in a new random order.
 */
async function measure({ rounds, count, concurrency }: typeof FULL, isShort: boolean) {
  const server = await startWarmPostgres(isShort);
  const pool = await createDatabase(server.url, 'scaling', 1);
  atTheEnd(() => pool.end());
  let settled = 0;
  let onSettled: () => void = () => undefined;
  const onTold = (more: unknown): void => {
    settled += Number(more);
    onSettled();
  };
  const hosts = Array.from({ length: Math.max(...SIZES) }, () => startProgram({ onTold }));
  for (const host of hosts) atTheEnd(() => host.end());
  const askAll = (own: readonly Child[], request: (index: number) => ProgramRequest): Promise<number[]> =>
    Promise.all(own.map((host, index) => askProgram<number>(host, request(index))));

  /** The processor time of the programs, and of the server. */
  async function cpuOf(own: readonly Child[]): Promise<readonly [number, number]> {
    const each = await askAll(own, () => ({ kind: 'rest' }));
    return [each.reduce((sum, cpuMs) => sum + cpuMs, 0), await serverCpuMs(server)];
  }

  async function stage(own: readonly Child[], run: () => Promise<unknown>): Promise<Stage> {
    const [programsBefore, postgresBefore] = await cpuOf(own);
    const started = performance.now();
    await run();
    const seconds = (performance.now() - started) / 1000;
    const [programs, postgres] = await cpuOf(own);
    return {
      perSecond: count / seconds,
      programsMs: (programs - programsBefore) / count,
      postgresMs: (postgres - postgresBefore) / count,
    };
  }

  async function slice(size: number, name: string): Promise<Sample> {
    await pool.query(
      `truncate ${TABLES.map((table) => `payment_inbox.${table}`).join(', ')}, merchant_effect`,
    );
    const own = hosts.slice(0, size);
    await askAll(own, (index) => ({ kind: 'prepare', prefix: `${name}-${index}`, count: count / size }));
    const intake = await stage(own, () =>
      askAll(own, () => ({ kind: 'receive', concurrency: concurrency / size })),
    );
    settled = 0;
    const drain = await stage(own, async () => {
      const done = new Promise<void>((resolve) => {
        onSettled = () => (settled >= count ? resolve() : undefined);
      });
      await askAll(own, () => ({ kind: 'work', tells: true }));
      await done;
    });
    const { rows } = await pool.query<{ n: number }>(
      'select count(distinct transition_id)::int as n from merchant_effect',
    );
    if (rows[0]?.n !== count) throw new Error(`${rows[0]?.n} of ${count} payments were credited.`);
    return { intake, drain };
  }

  const at = databaseUrl(server.url, 'scaling');
  for (const host of hosts) await askProgram(host, { kind: 'open', way: 'pg', at, receives: false });
  for (const size of SIZES) await slice(size, `warm-${size}`);
  return interleave(SIZES, rounds, Math.random, (size, round) => slice(size, `${size}-${round}`));
}

function found(samples: ReadonlyMap<number, readonly Sample[]>, { concurrency }: typeof FULL): Found {
  const rows = (['intake', 'drain'] as const).flatMap((stage) => {
    const figures = (own: readonly Sample[] | undefined, name: keyof Stage): number[] =>
      (own ?? []).map((sample) => sample[stage][name]);
    return [...samples].map(([processes, own]) => {
      const of = (name: keyof Stage): Spread => spread(figures(own, name));
      const overOne = ratio(figures(own, 'perSecond'), figures(samples.get(1), 'perSecond'));
      const [programsMs, postgresMs] = [of('programsMs'), of('postgresMs')];
      return { stage, processes, perSecond: of('perSecond'), programsMs, postgresMs, overOne };
    });
  });
  const table = {
    title: `${concurrency} callbacks at a time`,
    head: ['', 'processes', 'a second', 'times one', 'CPU ms, programs', 'CPU ms, PostgreSQL', ''],
    rows: rows.map(({ stage, processes, perSecond, overOne, programsMs, postgresMs }) => {
      const cpuMs = [programsMs, postgresMs].map(({ median }) => figure(median));
      return [stage, String(processes), withRange(perSecond), withRange(overOne), ...cpuMs, ''];
    }),
  };
  const results = rows
    .filter(({ processes }) => processes > 1)
    .map(({ stage, processes, overOne }) =>
      judge(`${stage}: ${processes} processes over one`, 'ratio', overOne, 'at least', AT_LEAST[stage]),
    );
  return { results, tables: [table], measurements: rows };
}
