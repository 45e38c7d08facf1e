import { caughtResult, verdictResults } from '../history/results.ts';
import { spread } from '../measure/measure.ts';
import { judge, type Result, told } from '../measure/results.ts';
import type { Round } from './run.ts';
import type { Outcome } from './run-under-load.ts';

/** What the run has to show, and the control: if that loses nothing, the run would not have noticed a loss. */
export function judgeFailovers(
  synchronous: Outcome<Round>,
  control: Outcome<Round>,
  rounds: number,
): readonly Result[] {
  const died = synchronous.rounds.length;
  const underLoad = synchronous.rounds.filter(({ underWay }) => underWay > 0);
  const doubled = control.verdict.faults.doubled.length;
  const recoveryMs = synchronous.rounds.map((round) => round.recoveryMs);
  return [
    judge('primaries killed, and standbys promoted', 'failovers', died, 'exactly', rounds),
    judge('of those with requests under way', 'failovers', underLoad.length, 'exactly', rounds),
    told('from the kill to the next answer', 'ms', spread(recoveryMs)),
    ...judgeLosses(synchronous, control, rounds),
    judge('control, asynchronous: applied twice', 'payments', doubled, 'exactly', 0),
  ];
}

/** Of every kind of failover: with a standby that commits wait for nothing is lost, and without one the control loses. */
export function judgeLosses(
  synchronous: Outcome<unknown>,
  control: Outcome<unknown>,
  rounds: number,
): readonly Result[] {
  return [
    ...verdictResults(synchronous.verdict, 100 * rounds),
    judge('warnings at the start', 'programs', synchronous.warnings.length, 'exactly', 0),
    caughtResult('asynchronous', control.verdict, 'lost'),
    caughtResult('asynchronous', control.verdict, 'dropped'),
    judge('control, asynchronous: warnings at the start', 'programs', control.warnings.length, 'at least', 1),
  ];
}
