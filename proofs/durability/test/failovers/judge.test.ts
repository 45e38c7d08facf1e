import { expect, test } from 'vitest';
import { judgeFailovers, type Round } from '../../src/failovers/failover-test.ts';
import type { Outcome } from '../../src/failovers/run-under-load.ts';
import { FAULTS } from '../../src/history/judge-history.ts';
import { verdictOf } from '../support/verdict.ts';

const FIGURES = { due: 200, appliedOnce: 200 };
const ROUND: Round = { isStalled: true, underWay: 4, acknowledgedInStall: 0, recoveryMs: 700 };
const WARNED = ['ASYNCHRONOUS_STANDBY'];
const LOSING = verdictOf({ lost: ['A'], dropped: ['B'] });

test('failovers pass if they lost nothing and their control lost and warned', () => {
  expect(missed({}, {})).toEqual([]);
});

test.each([
  [{ rounds: [ROUND] }, ['primaries killed, and standbys promoted', 'of those with requests under way']],
  [{ rounds: [ROUND, { ...ROUND, underWay: 0 }] }, ['of those with requests under way']],
  [{ warnings: WARNED }, ['warnings at the start']],
  [{ verdict: verdictOf({ doubled: ['A'] }, FIGURES) }, [FAULTS.doubled]],
  [{ verdict: verdictOf({}, { due: 199, appliedOnce: 199 }) }, ['payments due']],
])('a failover run fails with %j', (changed, names) => {
  expect(missed(changed, {})).toEqual(names);
});

test.each([
  [{ verdict: verdictOf({ lost: ['A'] }) }, `control, asynchronous: ${FAULTS.dropped}`],
  [{ verdict: verdictOf({ dropped: ['B'] }) }, `control, asynchronous: ${FAULTS.lost}`],
  [{ verdict: verdictOf({ ...LOSING.faults, doubled: ['C'] }) }, 'control, asynchronous: applied twice'],
  [{ warnings: [] }, 'control, asynchronous: warnings at the start'],
])('a failover run fails with the control %j', (changed, name) => {
  expect(missed({}, changed)).toEqual([name]);
});

function missed(synchronous: Partial<Outcome<Round>>, control: Partial<Outcome<Round>>): readonly string[] {
  const verdict = verdictOf({}, FIGURES);
  const outcome = { rounds: [ROUND, ROUND], verdict, states: {}, warnings: [], seconds: 1 };
  const losing = { ...outcome, verdict: LOSING, warnings: WARNED };
  const results = judgeFailovers({ ...outcome, ...synchronous }, { ...losing, ...control }, 2);
  return results.filter(({ met }) => !met).map(({ name }) => name);
}
