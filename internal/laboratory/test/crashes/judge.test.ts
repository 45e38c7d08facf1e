import { describe, expect, test } from 'vitest';
import type { Tally } from '../../src/crashes/audit.ts';
import { judgeCrashes, type Wanted } from '../../src/crashes/judge.ts';
import type { Kill } from '../../src/crashes/killer.ts';

const TALLY: Tally = {
  payments: 90,
  transitions: 100,
  acknowledgements: 200,
  acknowledgedBodies: 150,
  storedBodies: 150,
  lostBodies: 0,
  strangeBodies: 0,
  unacknowledgedBodies: 0,
  duePayments: 80,
  appliedOnce: 80,
  lostPayments: 0,
  doubledPayments: 0,
  forgedEffects: 0,
};
const IN_COMMIT: Kill = { target: 'worker', phase: 'commit' };
const IN_INTAKE: Kill = { target: 'receiver', phase: 'intake' };
const IDLE: Kill = { target: 'receiver', phase: 'idle' };

describe('a run is judged', () => {
  test('nothing lost, nothing doubled, killed at bad moments', () => {
    expect(missed({})).toEqual([]);
  });

  test.each([
    [{ lostBodies: 1 }, ['acknowledged and not stored']],
    [{ strangeBodies: 1 }, ['stored and never sent']],
    [{ unacknowledgedBodies: 1 }, ['sent and never acknowledged']],
    [{ lostPayments: 1, appliedOnce: 79 }, ['payments lost', 'payments applied exactly once']],
    [{ doubledPayments: 1, appliedOnce: 79 }, ['payments applied twice', 'payments applied exactly once']],
    [{ forgedEffects: 1 }, ['forged amounts applied']],
    [{ transitions: 99 }, ['transitions']],
  ])('%j is a miss', (tally, names) => {
    expect(missed({ tally })).toEqual(names);
  });

  test('fewer kills than asked for, or kills at moments that do not hurt', () => {
    expect(missed({ kills: [IN_COMMIT, IN_COMMIT, IN_INTAKE] })).toEqual(['kills']);
    expect(missed({ kills: [IN_COMMIT, IDLE, IDLE, IDLE] })).toEqual([
      'kills during intake, handler or commit',
    ]);
    expect(missed({ kills: [IN_INTAKE, IN_INTAKE, IN_INTAKE, IN_INTAKE] })).toEqual([
      'kills inside a handler or its commit',
    ]);
  });

  test('the control has to show doubles, and may show nothing else', () => {
    const doubled = { doubledPayments: 3, appliedOnce: 77 };
    expect(missed({ tally: doubled, isControl: true })).toEqual([]);
    expect(missed({ isControl: true })).toEqual(['payments applied twice by the control']);
    expect(missed({ tally: { ...doubled, lostPayments: 1 }, isControl: true })).toEqual(['payments lost']);
  });
});

function missed({
  tally = {},
  kills = [IN_COMMIT, IN_INTAKE, IN_INTAKE, IDLE],
  isControl = false,
}: {
  readonly tally?: Partial<Tally>;
  readonly kills?: readonly Kill[];
  readonly isControl?: boolean;
}): readonly string[] {
  const wanted: Wanted = { kills: 4, transitions: 100, isControl };
  const outcome = {
    tally: { ...TALLY, ...tally },
    kills,
    failures: 0,
    crashLooped: 0,
    states: {},
    seconds: 1,
  };
  return judgeCrashes(outcome, wanted)
    .filter(({ met }) => !met)
    .map(({ name }) => name);
}
