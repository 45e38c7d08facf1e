import { serverCpuMs, startWarmPostgres } from '@payment-service/durability/load/postgres.ts';
import { interleave, ratio, spread } from '@payment-service/durability/measure/measure.ts';
import { atTheEnd, makeFolder } from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';
import pg from 'pg';
import { type Applier, openAppliers, sqliteAppliers } from './appliers.ts';

/** The costs of a payment, and the most that the inbox may cost. The statements are without BEGIN and COMMIT. */
const COSTS = {
  postgresCpuMs: { unit: 'ms of PostgreSQL', most: 0.9 },
  walBytes: { unit: 'bytes of WAL', most: 1600 },
  statements: { unit: 'statements', most: 5 },
  nodeCpuMs: { unit: 'ms of Node', most: undefined },
};
type Cost = keyof typeof COSTS;
const NAMES = Object.keys(COSTS) as Cost[];

/** One slice: its rate, and the cost of a payment. */
type Applied = Readonly<Record<Cost | 'perSecond', number>>;

/** How many handlers run at the same time, and the least rate over the floor: besides its work, the inbox reads the case. */
const CONCURRENCIES = new Map([
  [1, 0.6],
  [4, 0.9],
  [10, 0.75],
  [32, 0.6],
]);
/** Its handlers run one at a time, and each step is a message to a thread. */
const SQLITE_OVER_FLOOR = 0.6;
const PEERS = [
  'graphile-worker',
  'graphile-worker, batches of 50',
  'pg-boss, 2 in a batch',
  'pg-boss, 10 in a batch',
];

/**
 * Applies payments with the inbox, its floor and a queue, interleaved on one server. All have the same effect.
 *
 * @param pace.payments of one slice.
 * @returns the rates and costs of all contenders; ratios are taken within each round.
 * @throws if a contender does not have exactly one effect for each payment.
 */
export async function judgeApplying(
  pace: { readonly rounds: number; readonly payments: number },
  isShort: boolean,
): Promise<readonly Result[]> {
  const slices = await measureApplying(pace, isShort);
  const of = (name: string, what: keyof Applied): number[] =>
    (slices.get(name) ?? []).map((slice) => slice[what]);
  const over = (name: string, own: string, other: string, least: number): Result =>
    judge(name, 'ratio', ratio(of(own, 'perSecond'), of(other, 'perSecond')), 'at least', least);
  const costsOf = (name: string): Result[] =>
    NAMES.map((cost) => {
      const { unit, most } = COSTS[cost];
      const measured = spread(of(name, cost));
      if (most === undefined || !name.startsWith('inbox')) return told(name, unit, measured);
      // A window of payments shares one find_due, and a slice shares the meter's own statement.
      const rounded = Math.round(measured.median * 10) / 10;
      return { ...judge(name, unit, rounded, 'at most', most), value: measured.median };
    });
  const judged = [...CONCURRENCIES].flatMap(([concurrency, overFloor]) => {
    const names = ['inbox', 'floor', ...PEERS].map((name) => sliceName(name, concurrency));
    const [inbox = '', floor = '', ...peers] = names;
    return [
      over(`${inbox}, over the floor`, inbox, floor, overFloor),
      ...peers.map((peer, at) => over(`${inbox}, over ${PEERS[at]}`, inbox, peer, 1)),
      ...names.flatMap(costsOf),
    ];
  });
  const sqlite = sliceName('inbox, SQLite', 1);
  const floor = sliceName('floor, SQLite', 1);
  return [
    ...[...slices.keys()].map((name) => told(name, 'per second', spread(of(name, 'perSecond')))),
    ...judged,
    over(`${sqlite}, over the floor`, sqlite, floor, SQLITE_OVER_FLOOR),
    ...[sqlite, floor].map((name) => told(name, COSTS.nodeCpuMs.unit, spread(of(name, 'nodeCpuMs')))),
  ];
}

async function measureApplying(
  { rounds, payments }: { readonly rounds: number; readonly payments: number },
  isShort: boolean,
): Promise<ReadonlyMap<string, readonly Applied[]>> {
  const server = await startWarmPostgres(isShort, METERED);
  const meter = await openMeter(server.url);
  const readCosts = async (): Promise<Readonly<Record<Cost, number>>> => {
    const { user, system } = process.cpuUsage();
    const nodeCpuMs = (user + system) / 1000;
    return { postgresCpuMs: await serverCpuMs(server), nodeCpuMs, ...(await readWork(meter)) };
  };
  const slices: { applier: Applier; concurrency: number }[] = [];
  for (const applier of await openAppliers(server.url)) {
    atTheEnd(applier.close);
    for (const concurrency of CONCURRENCIES.keys()) slices.push({ applier, concurrency });
  }
  for (const applier of await sqliteAppliers(await makeFolder())) {
    atTheEnd(applier.close);
    slices.push({ applier, concurrency: 1 });
  }
  const run = async ({ applier, concurrency }: (typeof slices)[number]): Promise<Applied> => {
    const effects = await applier.effects();
    await applier.fill(payments);
    const before = await readCosts();
    const seconds = await applier.apply(payments, concurrency);
    const after = await readCosts();
    const made = (await applier.effects()) - effects;
    if (made !== payments) throw new Error(`${applier.name}: ${made} effects of ${payments} payments.`);
    const costs = NAMES.map((cost) => [cost, (after[cost] - before[cost]) / payments]);
    return { ...(Object.fromEntries(costs) as Record<Cost, number>), perSecond: payments / seconds };
  };
  if (!isShort) for (const slice of slices) await run(slice);
  const samples = await interleave(slices, rounds, Math.random, run);
  return new Map(
    [...samples].map(([{ applier, concurrency }, own]) => [sliceName(applier.name, concurrency), own]),
  );
}

/**
 * For a server whose statements and log are counted. After a checkpoint, the log would get whole pages again. BEGIN and COMMIT
 * are left out for all: pg_stat_statements counts those that a client has prepared only once.
 */
export const METERED: Readonly<Record<string, string>> = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_utility': 'off',
  max_connections: '300',
  checkpoint_timeout: '1h',
  max_wal_size: '16GB',
};

/** A connection that reads what a server has done. */
export async function openMeter(url: string): Promise<pg.Client> {
  const meter = new pg.Client({ connectionString: url });
  await meter.connect();
  atTheEnd(() => meter.end());
  await meter.query('create extension if not exists pg_stat_statements');
  return meter;
}

/** Since the server was started. */
export async function readWork(
  meter: pg.Client,
): Promise<{ readonly walBytes: number; readonly statements: number }> {
  const { rows } = await meter.query<{ wal: string; statements: string }>(
    `select pg_current_wal_insert_lsn() - '0/0' as wal, (select sum(calls) from pg_stat_statements) as statements`,
  );
  return { walBytes: Number(rows[0]?.wal), statements: Number(rows[0]?.statements) };
}

function sliceName(name: string, concurrency: number): string {
  return `${name}, ${concurrency} at a time`;
}
