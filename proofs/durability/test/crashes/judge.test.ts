import { expect, test } from 'vitest';
import { judgeCrashes, type Wanted } from '../../src/crashes/crash-test.ts';
import type { Kill } from '../../src/crashes/killer.ts';
import type { CrashTestOutcome } from '../../src/crashes/run-crash-test.ts';
import { FAULTS, type Fault } from '../../src/history/judge-history.ts';
import { judge, type Result } from '../../src/measure/results.ts';
import { verdictOf } from '../support/verdict.ts';

const IN_COMMIT: Kill = { target: 'worker', phase: 'commit' };
const IN_INTAKE: Kill = { target: 'receiver', phase: 'intake' };
const IDLE: Kill = { target: 'receiver', phase: 'idle' };
const DOUBLED = verdictOf({ doubled: ['A'] }, { appliedOnce: 79 });

test('a crash run passes if it lost and doubled nothing, was killed at bad moments, and the lease queue doubled', () => {
  expect(missed({})).toEqual([]);
});

test.each(Object.keys(FAULTS) as Fault[])('one fault of the kind "%s" fails a crash run', (fault) => {
  expect(missed({ verdict: verdictOf({ [fault]: ['A'] }) })).toEqual([FAULTS[fault]]);
});

test('too few bodies, kills or kills at bad moments fail a crash run', () => {
  expect(missed({ verdict: verdictOf({}, { bodies: 99 }) })).toEqual(['distinct bodies acknowledged']);
  expect(missed({ verdict: verdictOf({}, { due: 44, appliedOnce: 44 }) })).toEqual(['payments due']);
  expect(missed({ verdict: verdictOf({}, { appliedOnce: 79 }) })).toEqual(['payments applied exactly once']);
  expect(missed({ kills: [IN_COMMIT, IN_COMMIT, IN_INTAKE] })).toEqual(['kills']);
  expect(missed({ kills: [IN_COMMIT, IDLE, IDLE, IDLE] })).toEqual([
    'kills during intake, handler or commit',
  ]);
  expect(missed({ kills: [IN_INTAKE, IN_INTAKE, IN_INTAKE, IN_INTAKE] })).toEqual([
    'kills inside a handler or its commit',
  ]);
});

test('a crash run with a fault fails if that did not happen, and its kills may come at any moment', () => {
  const happened = (value: number): readonly Result[] => [judge('stalls', 'stalls', value, 'at least', 1)];
  const kills = [IDLE, IDLE, IDLE, IDLE];
  expect(missed({ fault: 'stall', kills, happened: happened(1) })).toEqual([]);
  expect(missed({ fault: 'stall', kills, happened: happened(0) })).toEqual(['stalls']);
});

test('a lease queue that does not double fails a crash run', () => {
  expect(missed({ leaseQueue: verdictOf({}) })).toEqual([`control, a queue with leases: ${FAULTS.doubled}`]);
});

test('the control of a crash run has to show doubles, and may lose nothing', () => {
  expect(missed({ verdict: DOUBLED, isControl: true })).toEqual([]);
  expect(missed({ isControl: true })).toEqual([
    `control, effects outside the transaction: ${FAULTS.doubled}`,
  ]);
  const lost = verdictOf({ doubled: ['A'], lost: ['B'] }, { appliedOnce: 78 });
  expect(missed({ verdict: lost, isControl: true })).toEqual([FAULTS.lost]);
});

function missed({
  isControl = false,
  fault,
  ...changed
}: Partial<CrashTestOutcome> & Partial<Pick<Wanted, 'isControl' | 'fault'>>): readonly string[] {
  const wanted: Wanted = { kills: 4, transitions: 100, isControl, fault };
  const outcome: CrashTestOutcome = {
    verdict: verdictOf({}),
    leaseQueue: verdictOf({ doubled: ['A'] }),
    payments: 90,
    kills: [IN_COMMIT, IN_INTAKE, IN_INTAKE, IDLE],
    crashLooped: 0,
    states: {},
    seconds: 1,
    happened: [],
    ...changed,
  };
  const results = judgeCrashes(outcome, wanted);
  return results.filter(({ met }) => !met).map(({ name }) => name);
}
