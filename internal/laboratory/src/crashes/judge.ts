import { judge, type Result } from '../measure/results.ts';
import type { CrashTestOutcome } from './run-crash-test.ts';

export interface Wanted {
  readonly kills: number;
  readonly transitions: number;
  readonly isControl: boolean;
}

/** At least this share of the kills has to hit a moment that hurts; otherwise the run proves little. */
const BAD_MOMENTS = 0.5;

/** What a run has to show. The control has to show doubles: otherwise nothing could. */
export function judgeCrashes({ tally, kills }: CrashTestOutcome, wanted: Wanted): readonly Result[] {
  const bad = kills.filter(({ phase }) => phase !== 'idle').length;
  const inHandlers = kills.filter(({ phase }) => phase === 'handler' || phase === 'commit').length;
  const common = [
    judge('kills', 'kills', kills.length, 'at least', wanted.kills),
    judge(
      'kills during intake, handler or commit',
      'kills',
      bad,
      'at least',
      Math.ceil(kills.length * BAD_MOMENTS),
    ),
    judge(
      'kills inside a handler or its commit',
      'kills',
      inHandlers,
      'at least',
      Math.ceil(kills.length / 4),
    ),
    judge('transitions', 'transitions', tally.transitions, 'at least', wanted.transitions),
    judge('sent and never acknowledged', 'bodies', tally.unacknowledgedBodies, 'exactly', 0),
    judge('acknowledged and not stored', 'bodies', tally.lostBodies, 'exactly', 0),
    judge('stored and never sent', 'bodies', tally.strangeBodies, 'exactly', 0),
    judge('payments lost', 'payments', tally.lostPayments, 'exactly', 0),
    judge('forged amounts applied', 'effects', tally.forgedEffects, 'exactly', 0),
  ];
  if (wanted.isControl) {
    return [
      ...common,
      judge('payments applied twice by the control', 'payments', tally.doubledPayments, 'at least', 1),
    ];
  }
  return [
    ...common,
    judge('payments applied twice', 'payments', tally.doubledPayments, 'exactly', 0),
    judge('payments applied exactly once', 'payments', tally.appliedOnce, 'exactly', tally.duePayments),
  ];
}
