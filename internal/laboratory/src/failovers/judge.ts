import { judge, type Result } from '../measure/results.ts';
import type { Outcome } from './run.ts';

/** What the run has to show, and the control: if that loses nothing, the run would not have noticed a loss. */
export function judgeFailovers(
  { synchronous, control }: { readonly synchronous: Outcome; readonly control: Outcome },
  rounds: number,
): readonly Result[] {
  const { tally } = synchronous;
  const underLoad = synchronous.rounds.filter(({ underWay }) => underWay > 0);
  return [
    judge(
      'primaries killed, and standbys promoted',
      'failovers',
      synchronous.rounds.length,
      'exactly',
      rounds,
    ),
    judge('of those with callbacks under way', 'failovers', underLoad.length, 'exactly', rounds),
    judge('acknowledged and lost', 'callbacks', tally.lostCallbacks, 'exactly', 0),
    judge('acknowledged and not applied', 'payments', tally.lostPayments, 'exactly', 0),
    judge('applied twice', 'payments', tally.appliedTwice, 'exactly', 0),
    judge('applied exactly once', 'payments', tally.appliedOnce, 'exactly', tally.acknowledged),
    judge('effects of nothing', 'payments', tally.strangeEffects, 'exactly', 0),
    judge('warnings at the start', 'programs', warningsOf(synchronous), 'exactly', 0),
    judge(
      'control, asynchronous: acknowledged and lost',
      'callbacks',
      control.tally.lostCallbacks,
      'at least',
      1,
    ),
    judge('control, asynchronous: applied twice', 'payments', control.tally.appliedTwice, 'exactly', 0),
    judge('control, asynchronous: warnings at the start', 'programs', warningsOf(control), 'at least', 1),
  ];
}

function warningsOf({ warnings }: Outcome): number {
  return warnings.filter((code) => code === 'ASYNCHRONOUS_STANDBY').length;
}
