import { expect, test } from 'vitest';
import { type PaymentFacts, paymentState, type ReportFacts } from '../src/verdict/payment-state.ts';

const report = (transitionId: string, changes: Partial<ReportFacts> = {}): ReportFacts => ({
  transitionId,
  subjectKey: 'one',
  state: 'settled',
  reason: undefined,
  appliedAs: undefined,
  place: 1,
  changedAt: 1,
  ...changes,
});
const EXPECTED: PaymentFacts = {
  isExpected: true,
  isCanceled: false,
  settledBy: undefined,
  reports: [],
  before: 'open',
};
const held = (transitionId: string, reason: ReportFacts['reason'] = 'amount_mismatch') =>
  report(transitionId, { state: 'quarantined', reason });
const failed = (id: string, changedAt: number) => report(id, { appliedAs: 'failed', changedAt });
const interim = (id: string, changedAt: number) => report(id, { appliedAs: 'interim', changedAt });
const reports = (...all: readonly ReportFacts[]) => ({ reports: all });
const unasked = report('a', { state: 'unhandled', reason: 'no_expectation' });
const unhandled = report('a', { state: 'unhandled', reason: 'no_handler' });
const PAID = { settledBy: 'a', ...reports(report('a')) };
const reversed = report('b', { appliedAs: 'reversed', place: 2 });

test.each<[name: string, changes: Partial<PaymentFacts>, wanted: string]>([
  ['stated', {}, 'open'],
  ['reported, and not looked at yet', reports(report('a', { state: 'pending' })), 'open'],
  ['settled', PAID, 'paid'],
  [
    'settled, with a second report',
    { settledBy: 'a', ...reports(report('a'), held('b')) },
    'paid, amount_mismatch',
  ],
  ['reversed', { settledBy: 'a', ...reports(report('a'), reversed) }, 'reversed'],
  [
    'reversed, and applied again',
    { settledBy: 'a', ...reports(report('a', { place: 3 }), reversed) },
    'paid',
  ],
  [
    'settled, after a reversal of another transaction',
    { settledBy: 'a', ...reports(report('a'), { ...reversed, subjectKey: 'another' }) },
    'paid',
  ],
  ['reversed before its report was archived', { ...PAID, before: 'reversed' }, 'reversed'],
  ['held', reports(held('a')), 'held, amount_mismatch'],
  [
    'all attempts failed',
    reports(report('a', { state: 'dead', reason: 'attempts_used_up' })),
    'held, attempts_used_up',
  ],
  [
    'in conflict',
    reports(report('a', { state: 'conflict', reason: 'different_bodies' })),
    'held, different_bodies',
  ],
  ['held twice', reports(held('b', 'currency_case'), held('a', 'amount_text')), 'held, amount_text'],
  ['held after a failure', reports(failed('a', 2), held('b')), 'held, amount_mismatch'],
  ['held, and not expected', { ...reports(held('a')), isExpected: false }, 'held, amount_mismatch'],
  [
    'closed by an operator',
    reports(report('a', { state: 'resolved', reason: 'closed_by_operator' })),
    'open',
  ],
  ['canceled', { isCanceled: true }, 'canceled'],
  ['canceled after a failure', { isCanceled: true, ...reports(failed('a', 1)) }, 'canceled'],
  ['paid after it was canceled', { isCanceled: true, ...reports(held('a', 'canceled')) }, 'held, canceled'],
  ['not expected', { isExpected: false, ...reports(unasked) }, 'unexpected, no_expectation'],
  ['not expected, and no money', { isExpected: false, ...reports(unhandled) }, 'unexpected'],
  ['not expected, and failed', { isExpected: false, ...reports(failed('a', 1)) }, 'unexpected'],
  ['stated since it was looked at', reports(unasked), 'open'],
  ['failed', reports(failed('a', 1)), 'failed'],
  ['failed, then another one is under way', reports(failed('a', 1), interim('b', 2)), 'open'],
  ['another one is under way, then failed', reports(failed('a', 3), interim('b', 2)), 'failed'],
  ['failed before its report was archived', { before: 'failed' }, 'failed'],
  [
    'failed before, and another one under way since',
    { before: 'failed', ...reports(interim('b', 2)) },
    'open',
  ],
  [
    'a status without a meaning after a failure',
    reports(failed('a', 1), report('b', { changedAt: 2 })),
    'failed',
  ],
])('%s', (_, changes, wanted) => {
  const facts = { ...EXPECTED, ...changes };
  const verdicts = [facts.reports, facts.reports.toReversed()].map((each) => {
    const { state, needs } = paymentState({ ...facts, reports: each });
    return needs === undefined ? state : `${state}, ${needs}`;
  });
  expect(verdicts).toEqual([wanted, wanted]);
});
