import type { CrashTestOutcome } from './run-crash-test.ts';

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

export interface Wanted {
  readonly kills: number;
  readonly transitions: number;
  readonly isControl: boolean;
}

/** At least this share of the kills has to hit a moment that hurts; otherwise the run proves little. */
const BAD_MOMENTS = 0.5;

/** What a run has to show. The control has to show doubles: otherwise nothing could. */
export function judge({ tally, kills }: CrashTestOutcome, wanted: Wanted): readonly Result[] {
  const bad = kills.filter(({ phase }) => phase !== 'idle').length;
  const inHandlers = kills.filter(({ phase }) => phase === 'handler' || phase === 'commit').length;
  const common = [
    atLeast('kills', kills.length, 'kills', wanted.kills),
    atLeast('kills during intake, handler or commit', bad, 'kills', Math.ceil(kills.length * BAD_MOMENTS)),
    atLeast('kills inside a handler or its commit', inHandlers, 'kills', Math.ceil(kills.length / 4)),
    atLeast('transitions', tally.transitions, 'transitions', wanted.transitions),
    exactly('sent and never acknowledged', tally.unacknowledgedBodies, 'bodies', 0),
    exactly('acknowledged and not stored', tally.lostBodies, 'bodies', 0),
    exactly('stored and never sent', tally.strangeBodies, 'bodies', 0),
    exactly('payments lost', tally.lostPayments, 'payments', 0),
    exactly('forged amounts applied', tally.forgedEffects, 'effects', 0),
  ];
  if (wanted.isControl) {
    return [
      ...common,
      atLeast('payments applied twice by the control', tally.doubledPayments, 'payments', 1),
    ];
  }
  return [
    ...common,
    exactly('payments applied twice', tally.doubledPayments, 'payments', 0),
    exactly('payments applied exactly once', tally.appliedOnce, 'payments', tally.duePayments),
  ];
}

function atLeast(name: string, value: number, unit: string, target: number): Result {
  return { name, value, unit, target, bound: 'at least', met: value >= target };
}

function exactly(name: string, value: number, unit: string, target: number): Result {
  return { name, value, unit, target, bound: 'exactly', met: value === target };
}
