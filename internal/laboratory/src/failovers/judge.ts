import { caughtResult, verdictResults } from '../history/results.ts';
import { judge, type Result } from '../measure/results.ts';
import type { Outcome } from './run.ts';

/** What the run has to show, and the control: if that loses nothing, the run would not have noticed a loss. */
export function judgeFailovers(
  { synchronous, control }: { readonly synchronous: Outcome; readonly control: Outcome },
  rounds: number,
): readonly Result[] {
  const died = synchronous.rounds.length;
  const underLoad = synchronous.rounds.filter(({ underWay }) => underWay > 0);
  return [
    judge('primaries killed, and standbys promoted', 'failovers', died, 'exactly', rounds),
    judge('of those with requests under way', 'failovers', underLoad.length, 'exactly', rounds),
    ...verdictResults(synchronous.verdict, 100 * rounds),
    judge('warnings at the start', 'programs', warningsOf(synchronous), 'exactly', 0),
    caughtResult('asynchronous', control.verdict, 'lost'),
    caughtResult('asynchronous', control.verdict, 'dropped'),
    judge(
      'control, asynchronous: applied twice',
      'payments',
      control.verdict.faults.doubled.length,
      'exactly',
      0,
    ),
    judge('control, asynchronous: warnings at the start', 'programs', warningsOf(control), 'at least', 1),
  ];
}

function warningsOf({ warnings }: Outcome): number {
  return warnings.filter((code) => code === 'ASYNCHRONOUS_STANDBY').length;
}
