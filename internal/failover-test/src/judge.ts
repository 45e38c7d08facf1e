import type { Outcome } from './run.ts';

/** One bound and what was counted, as the report holds it. */
export interface Result {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly target: number;
  /** How `value` has to stand to `target`. */
  readonly bound: 'at least' | 'exactly';
  readonly met: boolean;
}

/** What the run has to show, and the control: if that loses nothing, the run would not have noticed a loss. */
export function judge(
  { synchronous, control }: { readonly synchronous: Outcome; readonly control: Outcome },
  rounds: number,
): readonly Result[] {
  const { tally } = synchronous;
  const underLoad = synchronous.rounds.filter(({ underWay }) => underWay > 0);
  return [
    exactly('primaries killed, and standbys promoted', synchronous.rounds.length, 'failovers', rounds),
    exactly('of those with callbacks under way', underLoad.length, 'failovers', rounds),
    exactly('acknowledged and lost', tally.lostCallbacks, 'callbacks', 0),
    exactly('acknowledged and not applied', tally.lostPayments, 'payments', 0),
    exactly('applied twice', tally.appliedTwice, 'payments', 0),
    exactly('applied exactly once', tally.appliedOnce, 'payments', tally.acknowledged),
    exactly('effects of nothing', tally.strangeEffects, 'payments', 0),
    exactly('warnings at the start', warningsOf(synchronous), 'programs', 0),
    atLeast('control, asynchronous: acknowledged and lost', control.tally.lostCallbacks, 'callbacks', 1),
    exactly('control, asynchronous: applied twice', control.tally.appliedTwice, 'payments', 0),
    atLeast('control, asynchronous: warnings at the start', warningsOf(control), 'programs', 1),
  ];
}

function warningsOf({ warnings }: Outcome): number {
  return warnings.filter((code) => code === 'ASYNCHRONOUS_STANDBY').length;
}

function exactly(name: string, value: number, unit: string, target: number): Result {
  return { name, value, unit, target, bound: 'exactly', met: value === target };
}

function atLeast(name: string, value: number, unit: string, target: number): Result {
  return { name, value, unit, target, bound: 'at least', met: value >= target };
}
