/**
 * `pnpm lab crash-test --kills N --store postgres|sqlite [--payments N] [--seed N] [--control] [--report path]`: kills receivers,
 * workers and the database server under load (kill -9), or stalls its network, and then judges the history. Prints tables,
 * writes reports/crash-test-<store>.json, and exits with 1 if a target is missed.
 *
 * With --control, the handler's effect is written outside the transaction, before the transition is marked as done: this must
 * show doubles, and the run fails if it shows none.
 */
import { randomInt } from 'node:crypto';
import { FAULTS } from '../history/judge-history.ts';
import { seededRandom } from '../history/seeded-random.ts';
import { atTheEnd, endUnused, readFlags, runProgram } from '../measure/program.ts';
import { judge, type Result } from '../measure/results.ts';
import { postgresServer, sqliteFile } from '../topology/topology.ts';
import { type Kill, Killer } from './killer.ts';
import { caughtResult, type Outcome, run, verdictResults, verdictTable } from './run.ts';

/** Faults that effects outside the transaction may show: they repeat, and no lock keeps them in order. */
const OF_THE_CONTROL: readonly string[] = [
  FAULTS.doubled,
  FAULTS.disordered,
  'payments applied exactly once',
];

export interface Wanted {
  readonly store: string;
  readonly kills: number;
  readonly payments: number;
  readonly seed: number;
  readonly control: boolean;
}

export interface CrashTestOutcome extends Outcome {
  readonly kills: readonly Kill[];
}

export default async function (): Promise<void> {
  const {
    report,
    parts: _,
    ...flags
  } = readFlags({
    ...{ store: '', kills: 0, payments: 0, seed: randomInt(1, 1_000_000), control: false },
  });
  const { store, kills, control } = flags;
  if (!/^(postgres|sqlite)$/.test(store) || kills === 0)
    endUnused(
      'Usage: crash-test --kills N --store postgres|sqlite [--payments N] [--seed N] [--control] [--report path]',
    );
  const wanted = { ...flags, payments: flags.payments || 25 * kills };
  const name = `crash-test-${store}${control ? '-control' : ''}`;
  await runProgram({ name, report }, async () => {
    console.log(`${kills} kills, ${wanted.payments} payments, seed ${wanted.seed}`);
    const outcome = await runCrashTest(wanted);
    const results = judgeCrashes(outcome, wanted);
    return { results, tables: [verdictTable(outcome)], run: wanted, ...outcome };
  });
}

/** Kills receivers, workers and the server while the load runs. */
async function runCrashTest({
  store,
  kills: wanted,
  payments,
  ...options
}: Wanted): Promise<CrashTestOutcome> {
  const topology = await (store === 'postgres' ? postgresServer() : sqliteFile());
  const { seed, control: isControl } = options;
  const kills: Kill[] = [];
  const { outcome } = await run({ topology, seed, isControl }, async ({ load, reach, ...running }) => {
    const killer = new Killer({ ...running, topology, random: seededRandom(seed, -1) });
    atTheEnd(() => Promise.allSettled([killer.settled()]));
    const random = seededRandom(seed, -2);
    // Spread over the load: the k-th comes at a random moment of the k-th share of the payments.
    for (let index = 0; index < wanted; index++) {
      load.limit = Math.ceil(((index + 2) / wanted) * payments);
      const moment = Math.floor(((index + random.next()) / wanted) * payments);
      await reach(() => load.begun >= moment);
      kills.push(...(await killer.kill()));
      if (index % 10 === 9) console.log(`  ${kills.length} kills, ${load.begun} of ${payments} payments`);
    }
    load.limit = payments;
    await killer.settled();
  });
  return { ...outcome, kills };
}

/** What a run must show: of the kills, half at critical moments and a quarter in handlers; with fewer, it proves little. */
export function judgeCrashes(
  { verdict, kills }: CrashTestOutcome,
  wanted: Pick<Wanted, 'kills' | 'payments' | 'control'>,
): readonly Result[] {
  const bad = kills.filter(({ phase }) => phase !== 'idle').length;
  const inHandlers = kills.filter(({ phase }) => phase === 'handler' || phase === 'commit').length;
  const [half, quarter] = [Math.ceil(wanted.kills / 2), Math.ceil(wanted.kills / 4)];
  const results = verdictResults(verdict, Math.ceil(wanted.payments / 2));
  const controlled = [
    ...results.filter(({ name }) => !OF_THE_CONTROL.includes(name)),
    caughtResult('effects outside the transaction', verdict, 'doubled'),
  ];
  return [
    judge('kills', 'kills', kills.length, 'at least', wanted.kills),
    judge('kills during intake, handler or commit', 'kills', bad, 'at least', half),
    judge('kills inside a handler or its commit', 'kills', inHandlers, 'at least', quarter),
    judge('distinct bodies acknowledged', 'bodies', verdict.bodies, 'at least', wanted.payments),
    ...(wanted.control ? controlled : results),
  ];
}
