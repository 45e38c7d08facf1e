import { FAULTS } from '../history/judge-history.ts';
import { caughtResult, verdictResults } from '../history/results.ts';
import { judge, type Result } from '../measure/results.ts';
import type { CrashTestOutcome } from './run-crash-test.ts';

export interface Wanted {
  readonly kills: number;
  readonly transitions: number;
  readonly isControl: boolean;
  /** What else befalls the run, if anything does: some of its kills then wait until it is over. */
  readonly fault?: string | undefined;
}

/** At least this share of the kills has to hit a moment that hurts; otherwise the run proves little. */
const BAD_MOMENTS = 0.5;
/** What effects outside the transaction may show: they repeat, and no lock holds them in order. */
const OF_THE_CONTROL: readonly string[] = [
  FAULTS.doubled,
  FAULTS.disordered,
  'payments applied exactly once',
];

/** What a run has to show. The controls have to show doubles: otherwise nothing could. */
export function judgeCrashes(outcome: CrashTestOutcome, wanted: Wanted): readonly Result[] {
  const { verdict, leaseQueue, payments, kills, happened } = outcome;
  const bad = kills.filter(({ phase }) => phase !== 'idle').length;
  const inHandlers = kills.filter(({ phase }) => phase === 'handler' || phase === 'commit').length;
  const half = Math.ceil(kills.length * BAD_MOMENTS);
  const quarter = Math.ceil(kills.length / 4);
  const results = verdictResults(verdict, Math.ceil(payments / 2));
  return [
    judge('kills', 'kills', kills.length, 'at least', wanted.kills),
    ...(wanted.fault === undefined
      ? [
          judge('kills during intake, handler or commit', 'kills', bad, 'at least', half),
          judge('kills inside a handler or its commit', 'kills', inHandlers, 'at least', quarter),
        ]
      : []),
    judge('distinct bodies acknowledged', 'bodies', verdict.bodies, 'at least', wanted.transitions),
    ...(wanted.isControl
      ? [
          ...results.filter(({ name }) => !OF_THE_CONTROL.includes(name)),
          caughtResult('effects outside the transaction', verdict, 'doubled'),
        ]
      : results),
    caughtResult('a queue with leases', leaseQueue, 'doubled'),
    ...happened,
  ];
}
