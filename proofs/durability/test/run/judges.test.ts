import { describe, expect, test } from 'vitest';
import { FAULTS, type Fault, judgeHistory, type Verdict } from '../../src/history/judge-history.ts';
import type { Result } from '../../src/measure/results.ts';
import { type CrashTestOutcome, judgeCrashes, type Wanted } from '../../src/run/crash-test.ts';
import { type FailoverOutcome, judgeFailovers, type Round } from '../../src/run/failovers.ts';
import type { Kill } from '../../src/run/killer.ts';
import type { Outcome } from '../../src/run/run.ts';

const NONE = judgeHistory({ requests: [], effects: [], kept: new Set() });

/** The verdict on a run with 80 payments. */
function verdictOf(
  faults: Partial<Record<Fault, readonly string[]>>,
  { due = 80, appliedOnce = due, bodies = 150 }: Partial<Verdict> = {},
): Verdict {
  return { ...NONE, bodies, due, appliedOnce, faults: { ...NONE.faults, ...faults } };
}

const OUTCOME: Outcome = {
  verdict: verdictOf({}),
  payments: 90,
  warnings: [],
  seconds: 1,
};

function namesOfMissed(results: readonly Result[]): readonly string[] {
  return results.filter(({ met }) => !met).map(({ name }) => name);
}

describe('a crash run', () => {
  const IN_COMMIT: Kill = { target: 'worker', phase: 'commit' };
  const IN_INTAKE: Kill = { target: 'receiver', phase: 'intake' };
  const IDLE: Kill = { target: 'receiver', phase: 'idle' };
  const CONTROL = 'control, effects outside the transaction';
  type Change = Partial<CrashTestOutcome & Pick<Wanted, 'control'>>;
  const of = (faults: Partial<Record<Fault, readonly string[]>>, figures?: Partial<Verdict>): Change => ({
    verdict: verdictOf(faults, figures),
  });
  const control = (change: Change): Change => ({ control: true, ...change });

  test.each<[what: string, change: Change, missed: readonly string[]]>([
    ['that lost and doubled nothing, with kills at bad moments', {}, []],
    ['with too few bodies', of({}, { bodies: 89 }), ['distinct bodies acknowledged']],
    ['with too few payments', of({}, { due: 44 }), ['payments due']],
    ['with a payment not applied once', of({}, { appliedOnce: 79 }), ['payments applied exactly once']],
    ['with too few kills', { kills: [IN_COMMIT, IN_COMMIT, IN_INTAKE] }, ['kills']],
    [
      'with too few kills at bad moments',
      { kills: [IN_COMMIT, IDLE, IDLE, IDLE] },
      ['kills during intake, handler or commit'],
    ],
    [
      'with no kill in a handler',
      { kills: [IN_INTAKE, IN_INTAKE, IN_INTAKE, IN_INTAKE] },
      ['kills inside a handler or its commit'],
    ],
    ['that is the control and doubles', control(of({ doubled: ['A'] }, { appliedOnce: 79 })), []],
    ['that is the control and does not double', control({}), [`${CONTROL}: ${FAULTS.doubled}`]],
    ['that is the control and loses', control(of({ doubled: ['A'], lost: ['B'] })), [FAULTS.lost]],
    ...Object.entries(FAULTS).map(([fault, name]): [string, Change, string[]] => [
      `with one fault of the kind ${fault}`,
      of({ [fault]: ['A'] }),
      [name],
    ]),
  ])('%s misses only its own targets', (_, { control: isControl = false, ...change }, missed) => {
    const outcome: CrashTestOutcome = {
      ...OUTCOME,
      kills: [IN_COMMIT, IN_INTAKE, IN_INTAKE, IDLE],
    };
    const wanted = { kills: 4, payments: 90, control: isControl };
    expect(namesOfMissed(judgeCrashes({ ...outcome, ...change }, wanted))).toEqual(missed);
  });
});

describe('a run of failovers', () => {
  const ROUND: Round = { fault: 'killed', underWay: 4, recoveryMs: 700 };
  const WARNED = ['ASYNCHRONOUS_STANDBY'];
  const LOSING = verdictOf({ lost: ['A'], dropped: ['B'] });
  const FIGURES = { due: 200 };
  const DOUBLING = verdictOf({ ...LOSING.faults, doubled: ['C'] });
  const name = 'control, asynchronous:';

  test.each<[Partial<FailoverOutcome>, Partial<FailoverOutcome>, missed: readonly string[]]>([
    [{}, {}, []],
    [{ rounds: [ROUND] }, {}, ['failovers to another server', 'of those with requests under way']],
    [{ rounds: [ROUND, { ...ROUND, underWay: 0 }] }, {}, ['of those with requests under way']],
    [
      { rounds: [ROUND, { ...ROUND, recoveryMs: Number.POSITIVE_INFINITY }] },
      {},
      ['the longest time to the next acknowledged callback'],
    ],
    [{ warnings: WARNED }, {}, ['warnings at the start']],
    [{ verdict: verdictOf({ doubled: ['A'] }, FIGURES) }, {}, [FAULTS.doubled]],
    [{ verdict: verdictOf({}, { due: 199 }) }, {}, ['payments due']],
    [{}, { verdict: verdictOf({ lost: ['A'] }) }, [`${name} ${FAULTS.dropped}`]],
    [{}, { verdict: verdictOf({ dropped: ['B'] }) }, [`${name} ${FAULTS.lost}`]],
    [{}, { verdict: DOUBLING }, [`${name} applied twice`]],
    [{}, { warnings: [] }, [`${name} warnings at the start`]],
  ])('with %j and the control %j misses %j', (changed, control, missed) => {
    const outcome = { ...OUTCOME, verdict: verdictOf({}, FIGURES), rounds: [ROUND, ROUND] };
    const losing = { ...outcome, verdict: LOSING, warnings: WARNED };
    const results = judgeFailovers({ ...outcome, ...changed }, { ...losing, ...control }, 2);
    expect(namesOfMissed(results)).toEqual(missed);
  });
});
