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
import { resolve } from 'node:path';
import { FAULTS } from '../history/judge-history.ts';
import { caughtResult, told, verdictResults, verdictTable } from '../history/results.ts';
import { endUnused, readFlags, runProgram } from '../measure/program.ts';
import { judge, type Result } from '../measure/results.ts';
import type { Table } from '../measure/tables.ts';
import { runOnVolume, volume } from './faults/volume.ts';
import type { Kill, Target } from './killer.ts';
import { PHASES, type Phase } from './phase-log.ts';
import { type CrashTestOptions, type CrashTestOutcome, RUN_FAULTS, runCrashTest } from './run-crash-test.ts';

/** The minimum share of the wanted kills that must hit a critical moment; with fewer, the run proves little. */
const BAD_MOMENTS = 0.5;
/** Faults that effects outside the transaction may show: they repeat, and no lock keeps them in order. */
const OF_THE_CONTROL: readonly string[] = [
  FAULTS.doubled,
  FAULTS.disordered,
  'payments applied exactly once',
];

export default async function (): Promise<void> {
  const flags = readFlags({
    ...{ store: '', kills: 0, transitions: 0, seed: randomInt(1, 1_000_000) },
    ...{ control: false, fault: '', other: '', isolation: '' },
  });
  const { kills, seed, control: isControl, report } = flags;
  const store: CrashTestOptions['store'] | undefined =
    flags.store === 'postgres' || flags.store === 'sqlite' ? flags.store : undefined;
  const fault = flags.fault || undefined;
  const isolation = flags.isolation || undefined;
  const other = flags.other === '' ? undefined : resolve(flags.other);

  if (store === undefined || kills === 0 || (fault !== undefined && !Object.hasOwn(RUN_FAULTS, fault)))
    endUnused(
      'Usage: crash-test --kills N --store postgres|sqlite [--transitions N] [--seed N] [--control]\n' +
        `  [--fault ${Object.keys(RUN_FAULTS).join('|')}] [--other checkout]\n  [--isolation repeatable-read|serializable] [--report path]`,
    );
  if (fault === 'full-disk' && volume === undefined) process.exit(runOnVolume());
  const transitions = flags.transitions || 50 * kills;
  const run = { store, kills, transitions, seed, isControl, isolation, fault, other };
  const name = ['crash-test', store, isolation, fault, isControl && 'control'].filter(Boolean).join('-');
  await runProgram({ name, report }, async () => {
    console.log(`${kills} kills, ${transitions} transitions, seed ${seed}`);
    const outcome = await runCrashTest(run);
    const { kills: killed, verdict, leaseQueue: _, happened: __, ...counted } = outcome;
    const [results, tables] = [judgeCrashes(outcome, run), outcomeTables(outcome)];
    return { results, tables, run, killsByPhase: killTable(killed), ...told(verdict), ...counted };
  });
}

/** During a fault some kills are delayed until it ends, so the moments of the kills are judged only in a run without one. */
export type Wanted = Pick<CrashTestOptions, 'kills' | 'transitions' | 'isControl' | 'fault'>;

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
    ...(wanted.fault === undefined ? moments : []),
    judge('distinct bodies acknowledged', 'bodies', verdict.bodies, 'at least', wanted.transitions),
    ...(wanted.isControl ? controlled : results),
    caughtResult('a queue with leases', leaseQueue, 'doubled'),
    ...happened,
  ];
}

/** The number of kills by process and phase. */
function killTable(kills: readonly Kill[]): Record<Target, Record<Phase, number>> {
  const none = (): Record<Phase, number> => ({ commit: 0, handler: 0, intake: 0, idle: 0 });
  const hits = { receiver: none(), worker: none(), server: none() };
  for (const { target, phase } of kills) hits[target][phase] += 1;
  return hits;
}

function outcomeTables(outcome: CrashTestOutcome): readonly Table[] {
  const { verdict, payments, kills, crashLooped, states, seconds } = outcome;
  const hit = Object.entries(killTable(kills));
  return [
    {
      title: `${kills.length} kills in ${seconds} s, by what they hit`,
      head: ['', ...PHASES, ''],
      rows: hit.map(([target, hits]) => [target, ...PHASES.map((phase) => String(hits[phase])), '']),
    },
    verdictTable(verdict, {
      'payments sent': payments,
      'sent back after three dead handlers': crashLooped,
      ...Object.fromEntries(Object.entries(states).map(([name, count]) => [`state ${name}`, count])),
    }),
  ];
}
