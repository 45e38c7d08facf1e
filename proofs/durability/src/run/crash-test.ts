/**
 * `pnpm crash-test --kills N --store postgres|sqlite [--transitions N] [--seed N] [--control] [--report path]`: kills
 * receivers, workers and the database server under load (kill -9), and then judges the history. Prints tables, writes
 * reports/crash-test-<store>.json, and exits with 1 if a target is missed.
 *
 * With --control, the handler's effect commits in its own transaction, before the transition is marked as done: this must show
 * doubles, and the run fails if it shows none.
 *
 * With --isolation, PostgreSQL defaults to that level, at which handlers then run.
 *
 * With --fault, the run has another fault besides the kills: the disk of the database and the spool is full (Linux only), the
 * database's clock steps by hours, nothing passes to PostgreSQL for 30 s, or half of the programs run from --other, a checkout
 * of another commit. The run fails if the fault did not happen.
 */
import { randomInt } from 'node:crypto';
import { join, resolve } from 'node:path';
import { steppingClock } from '../faults/clock.ts';
import type { Fault, FaultParts } from '../faults/fault.ts';
import { fullDisk } from '../faults/full-disk.ts';
import { stall } from '../faults/stall.ts';
import { twoVersions } from '../faults/two-versions.ts';
import { runOnVolume, volume } from '../faults/volume.ts';
import { FAULTS, judgeHistory, type Verdict } from '../history/judge-history.ts';
import { runLeaseQueue } from '../history/lease-queue.ts';
import { paymentsFor } from '../history/payment-plan.ts';
import { seededRandom } from '../history/seeded-random.ts';
import { atTheEnd, endUnused, makeFolder, readFlags, runProgram } from '../measure/program.ts';
import { judge, type Result } from '../measure/results.ts';
import type { Table } from '../measure/tables.ts';
import { PHASES, type Phase } from '../merchant/phase-log.ts';
import { postgresServer, sqliteFile } from '../topology/topology.ts';
import { type Kill, Killer, type Target } from './killer.ts';
import { caughtResult, toldVerdict, verdictResults, verdictTable } from './results.ts';
import { type Outcome, run } from './run.ts';

/** The names for `--fault`. */
export const RUN_FAULTS: Readonly<Record<string, (parts: FaultParts) => Promise<Fault>>> = {
  'full-disk': fullDisk,
  clock: steppingClock,
  stall,
  'two-versions': twoVersions,
};

/** Empty is none, and 0 transitions are 50 for each kill. */
const readOptions = () =>
  readFlags({
    ...{ store: '', kills: 0, transitions: 0, seed: randomInt(1, 1_000_000) },
    ...{ control: false, fault: '', other: '', isolation: '' },
  });
type Options = ReturnType<typeof readOptions>;

export interface CrashTestOutcome extends Outcome {
  readonly kills: readonly Kill[];
  /** The verdict on the other control, which runs with every test. */
  readonly leaseQueue: Verdict;
  /** Whether the fault of the run happened. */
  readonly happened: readonly Result[];
}

/** The minimum share of the wanted kills that must hit a critical moment; with fewer, the run proves little. */
const BAD_MOMENTS = 0.5;
/** Faults that effects outside the transaction may show: they repeat, and no lock keeps them in order. */
const OF_THE_CONTROL: readonly string[] = [
  FAULTS.doubled,
  FAULTS.disordered,
  'payments applied exactly once',
];

export default async function (): Promise<void> {
  const flags = readOptions();
  const { store, kills, seed, control, fault, isolation, report } = flags;
  if (
    !/^(postgres|sqlite)$/.test(store) ||
    kills === 0 ||
    (fault !== '' && !Object.hasOwn(RUN_FAULTS, fault))
  )
    endUnused(
      'Usage: crash-test --kills N --store postgres|sqlite [--transitions N] [--seed N] [--control]\n' +
        `  [--fault ${Object.keys(RUN_FAULTS).join('|')}] [--other checkout]\n  [--isolation repeatable-read|serializable] [--report path]`,
    );
  if (fault === 'full-disk' && volume === undefined) process.exit(runOnVolume());
  const options = { ...flags, transitions: flags.transitions || 50 * kills };
  const name = ['crash-test', store, isolation, fault, control && 'control'].filter(Boolean).join('-');
  await runProgram({ name, report }, async () => {
    console.log(`${kills} kills, ${options.transitions} transitions, seed ${seed}`);
    const outcome = await runCrashTest(options);
    const results = judgeCrashes(outcome, options);
    const tables = [killTable(outcome), verdictTable(outcome)];
    return { results, tables, run: options, ...outcome, verdict: toldVerdict(outcome.verdict) };
  });
}

/** Kills receivers, workers and the server while the load runs. */
async function runCrashTest(options: Options): Promise<CrashTestOutcome> {
  const { store, kills: wanted, seed, control: isControl, other, isolation } = options;
  const folder = await makeFolder();
  const stored = volume ?? folder;
  // The server creates its folder there.
  if (volume !== undefined) process.env['TMPDIR'] = volume;
  const topology =
    store === 'postgres' ? await postgresServer(isolation || undefined) : sqliteFile(stored, isControl);
  const parts = { topology, folder, other: other === '' ? undefined : resolve(other) };
  const fault = await RUN_FAULTS[options.fault]?.(parts);
  // If there is a server that can be down: one receiver with a spool and one without.
  const spool = store === 'postgres' ? join(stored, 'spool') : undefined;
  const payments = paymentsFor(seed, options.transitions);
  const { times = 0 } = fault ?? {};
  const shared = { topology, folder, seed, fault, spool, isControl };
  const kills: Kill[] = [];
  const { outcome, requests, processes } = await run(shared, async ({ load, processes, signal, reach }) => {
    const killer = new Killer({ processes, topology, random: seededRandom(seed, -1), signal });
    atTheEnd(() => Promise.allSettled([killer.settled()]));
    const random = seededRandom(seed, -2);
    let struck = 0;
    // Spread over the load: the k-th comes at a random moment of the k-th share of the payments.
    for (let index = 0; index < wanted; index++) {
      const share = index / wanted;
      // At the beginning of a share, so that payments are left for the fault to affect.
      load.limit = Math.ceil((share + (struck < times ? 1 : 2) / wanted) * payments);
      if (struck < times && index + 1 > ((struck + 1) * wanted) / (times + 1)) {
        await killer.settled();
        await fault?.strike?.(struck);
        struck += 1;
      }
      const moment = Math.floor((share + random.next() / wanted) * payments);
      await reach(() => load.begun >= moment);
      kills.push(...(await killer.kill()));
      if (index % 10 === 9) console.log(`  ${kills.length} kills, ${load.begun} of ${payments} payments`);
    }
    load.limit = payments;
    await killer.settled();
  });
  const happened = (await fault?.happened({ requests, processes })) ?? [];
  const leaseQueue = judgeHistory(await runLeaseQueue());
  return { ...outcome, kills, happened, leaseQueue };
}

/** During a fault some kills are delayed until it ends, so the moments of the kills are judged only in a run without one. */
export interface Wanted {
  readonly kills: number;
  readonly transitions: number;
  readonly control: boolean;
  readonly fault: string;
}

/** What a run must show. The controls must show doubles: otherwise nothing could. */
export function judgeCrashes(outcome: CrashTestOutcome, wanted: Wanted): readonly Result[] {
  const { verdict, leaseQueue, payments, kills, happened } = outcome;
  const bad = kills.filter(({ phase }) => phase !== 'idle').length;
  const inHandlers = kills.filter(({ phase }) => phase === 'handler' || phase === 'commit').length;
  const half = Math.ceil(wanted.kills * BAD_MOMENTS);
  const quarter = Math.ceil(wanted.kills / 4);
  const moments = [
    judge('kills during intake, handler or commit', 'kills', bad, 'at least', half),
    judge('kills inside a handler or its commit', 'kills', inHandlers, 'at least', quarter),
  ];
  const results = verdictResults(verdict, Math.ceil(payments / 2));
  const controlled = [
    ...results.filter(({ name }) => !OF_THE_CONTROL.includes(name)),
    caughtResult('effects outside the transaction', verdict, 'doubled'),
  ];
  return [
    judge('kills', 'kills', kills.length, 'at least', wanted.kills),
    ...(wanted.fault === '' ? moments : []),
    judge('distinct bodies acknowledged', 'bodies', verdict.bodies, 'at least', wanted.transitions),
    ...(wanted.control ? controlled : results),
    caughtResult('a queue with leases', leaseQueue, 'doubled'),
    ...happened,
  ];
}

/** The number of kills by process and phase. */
function killTable({ kills, seconds }: CrashTestOutcome): Table {
  const hits = (target: Target, phase: Phase): string =>
    String(kills.filter((kill) => kill.target === target && kill.phase === phase).length);
  return {
    title: `${kills.length} kills in ${seconds} s, by what they hit`,
    head: ['', ...PHASES, ''],
    rows: (['receiver', 'worker', 'server'] as const).map((target) => [
      target,
      ...PHASES.map((phase) => hits(target, phase)),
      '',
    ]),
  };
}
