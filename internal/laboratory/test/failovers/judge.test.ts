import { expect, test } from 'vitest';
import { type Remains, type Tally, tally } from '../../src/failovers/count.ts';
import { judgeFailovers } from '../../src/failovers/judge.ts';
import type { Outcome, Round } from '../../src/failovers/run.ts';

const ACKNOWLEDGED = new Set(['ORD-1', 'ORD-2', 'ORD-3']);
const ALL: Remains = { stored: ACKNOWLEDGED, effects: [...ACKNOWLEDGED], states: {} };

test.each([
  ['nothing amiss', {}, {}],
  ['a callback that is not there', { stored: new Set(['ORD-1', 'ORD-3']) }, { lostCallbacks: 1 }],
  ['a payment that was not applied', { effects: ['ORD-1', 'ORD-3'] }, { lostPayments: 1, appliedOnce: 2 }],
  [
    'a payment that was applied twice',
    { effects: [...ACKNOWLEDGED, 'ORD-2'] },
    { appliedTwice: 1, appliedOnce: 2 },
  ],
  ['an effect of nothing', { effects: [...ACKNOWLEDGED, 'ORD-4'] }, { strangeEffects: 1 }],
])('the count notices %s', (_, remains, noticed) => {
  expect(tally(ACKNOWLEDGED, { ...ALL, ...remains })).toEqual({ ...NOTHING, ...noticed });
});

const NOTHING: Tally = {
  acknowledged: 3,
  lostCallbacks: 0,
  lostPayments: 0,
  appliedOnce: 3,
  appliedTwice: 0,
  strangeEffects: 0,
};
const ROUND: Round = { isStalled: true, underWay: 4, acknowledgedInStall: 0, recoveryMs: 700 };
const WARNED = ['ASYNCHRONOUS_STANDBY'];

test('a run without loss beside a control that loses and warns', () => {
  expect(missed({}, {})).toEqual([]);
});

test.each([
  [{ tally: { ...NOTHING, lostCallbacks: 1 } }, ['acknowledged and lost']],
  [
    { tally: { ...NOTHING, lostPayments: 1, appliedOnce: 2 } },
    ['acknowledged and not applied', 'applied exactly once'],
  ],
  [{ tally: { ...NOTHING, appliedTwice: 1, appliedOnce: 2 } }, ['applied twice', 'applied exactly once']],
  [{ tally: { ...NOTHING, strangeEffects: 1 } }, ['effects of nothing']],
  [{ rounds: [ROUND] }, ['primaries killed, and standbys promoted', 'of those with callbacks under way']],
  [{ rounds: [ROUND, { ...ROUND, underWay: 0 }] }, ['of those with callbacks under way']],
  [{ warnings: WARNED }, ['warnings at the start']],
])('a run misses with %j', (changed, names) => {
  expect(missed(changed, {})).toEqual(names);
});

test('the run misses when its control loses nothing, or starts without a warning', () => {
  expect(missed({}, { tally: NOTHING })).toEqual(['control, asynchronous: acknowledged and lost']);
  expect(missed({}, { warnings: [] })).toEqual(['control, asynchronous: warnings at the start']);
});

function missed(synchronous: Partial<Outcome>, control: Partial<Outcome>): readonly string[] {
  const outcome: Outcome = {
    rounds: [ROUND, ROUND],
    tally: NOTHING,
    states: {},
    answers: 4,
    failures: 0,
    warnings: [],
    seconds: 1,
  };
  const losing: Outcome = { ...outcome, tally: { ...NOTHING, lostCallbacks: 1 }, warnings: WARNED };
  const results = judgeFailovers(
    { synchronous: { ...outcome, ...synchronous }, control: { ...losing, ...control } },
    2,
  );
  return results.filter(({ met }) => !met).map(({ name }) => name);
}
