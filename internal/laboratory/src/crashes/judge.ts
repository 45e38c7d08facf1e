import { FAULTS } from '../history/judge-history.ts';
import { caughtResult, verdictResults, verdictTable } from '../history/results.ts';
import { judge, type Result } from '../measure/results.ts';
import type { Table } from '../measure/tables.ts';
import type { Kill, Target } from './killer.ts';
import { PHASES, type Phase } from './phase-log.ts';
import type { CrashTestOptions, CrashTestOutcome } from './run-crash-test.ts';

/** At least this share of the kills has to hit a moment that hurts; otherwise the run proves little. */
const BAD_MOMENTS = 0.5;
/** What effects outside the transaction may show: they repeat, and no lock holds them in order. */
const OF_THE_CONTROL: readonly string[] = [
  FAULTS.doubled,
  FAULTS.disordered,
  'payments applied exactly once',
];

/** Beside a fault, some kills wait until that is over: only without one the moments of the kills are judged. */
export type Wanted = Pick<CrashTestOptions, 'kills' | 'transitions' | 'isControl' | 'fault'>;

/** What a run has to show. The controls have to show doubles: otherwise nothing could. */
export function judgeCrashes(outcome: CrashTestOutcome, wanted: Wanted): readonly Result[] {
  const { verdict, leaseQueue, payments, kills, happened } = outcome;
  const bad = kills.filter(({ phase }) => phase !== 'idle').length;
  const inHandlers = kills.filter(({ phase }) => phase === 'handler' || phase === 'commit').length;
  const half = Math.ceil(kills.length * BAD_MOMENTS);
  const quarter = Math.ceil(kills.length / 4);
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

/** How many kills hit which process at which phase. */
export function killTable(kills: readonly Kill[]): Readonly<Record<Target, Readonly<Record<Phase, number>>>> {
  const count = (target: Target): Record<Phase, number> => {
    const hits = { commit: 0, handler: 0, intake: 0, idle: 0 };
    for (const kill of kills) if (kill.target === target) hits[kill.phase] += 1;
    return hits;
  };
  return { receiver: count('receiver'), worker: count('worker'), server: count('server') };
}

export function outcomeTables(outcome: CrashTestOutcome): readonly Table[] {
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
