import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type EvaluatedBody,
  type EvaluationRules,
  type ExpectedMoney,
  evaluate,
  type TransitionCase,
  type Verdict,
} from '../src/work/evaluate.ts';

const RULES: EvaluationRules = {
  completedEvents: ['transaction.completed'],
  allowTransitions: { COMPLETED: [] },
  interimStatuses: ['PENDING'],
  isHandled: (_, isCompleted) => isCompleted,
};
const EVERYTHING = { isHandled: () => true };
const SIGNED = {
  event: 'transaction.completed',
  merchant_reference: 'ORD-1',
  internal_reference: 'INT-1',
  transaction_type: 'COLLECTION',
  transaction_status: 'COMPLETED',
};
const COMPLETED: TransitionCase = {
  transitionId: 'a',
  signed: SIGNED,
  refusal: undefined,
  bodies: [body('500')],
  expectation: { currency: 'UGX', amount: '500', compare: 'both', settledBy: undefined, replaced: [] },
  appliedStatus: undefined,
  unfinished: 0,
  isWaived: false,
};

function body(request: string | null, transaction: string | null = request, currency = 'UGX'): EvaluatedBody {
  return {
    digest: `${request}/${transaction}/${currency}`,
    request: { currency, amount: request },
    transaction: { currency, amount: transaction },
  };
}

function verdict(changes: Partial<TransitionCase>, rules: Partial<EvaluationRules> = {}): Verdict {
  return evaluate({ ...COMPLETED, ...changes }, { ...RULES, ...rules });
}

const parked = (state: string, reason: string, isWaiting = false): object => ({
  kind: 'park',
  state,
  reason,
  isWaiting,
});
const waiting = (state: string, reason: string): object => parked(state, reason, true);
const earlier = (amount: string): ExpectedMoney => ({ currency: 'UGX', amount, compare: 'both' });
const expectation = COMPLETED.expectation;
if (expectation === undefined) throw new Error('The base case has an expectation.');

describe('evaluate', () => {
  it.each<[name: string, changes: Partial<TransitionCase>, wanted: object]>([
    [
      'a body equals',
      {},
      {
        kind: 'apply',
        settled: { currency: 'UGX', amount: '500', compare: 'both' },
        digest: '500/500/UGX',
        isContradicted: false,
      },
    ],
    ['nothing but evidence', { bodies: [], refusal: 'ambiguous' }, parked('quarantined', 'ambiguous')],
    [
      'no merchant_reference',
      { signed: { ...SIGNED, merchant_reference: '' } },
      parked('quarantined', 'empty_reference'),
    ],
    [
      'no internal_reference',
      { signed: { ...SIGNED, internal_reference: '' } },
      parked('quarantined', 'empty_reference'),
    ],
    [
      'another status',
      { signed: { ...SIGNED, transaction_status: 'FAILED' } },
      parked('unhandled', 'no_handler'),
    ],
    [
      'another event',
      { signed: { ...SIGNED, event: 'transaction.reversed' } },
      parked('unhandled', 'no_handler'),
    ],
    ['two unfinished starts', { unfinished: 2 }, { kind: 'apply' }],
    ['three unfinished starts', { unfinished: 3 }, parked('quarantined', 'crash_loop')],
    [
      'COMPLETED was applied',
      { appliedStatus: 'COMPLETED' },
      parked('quarantined', 'transition_not_allowed'),
    ],
    ['a person lets it through', { appliedStatus: 'COMPLETED', isWaived: true }, { kind: 'apply' }],
    ['FAILED was applied', { appliedStatus: 'FAILED' }, { kind: 'apply' }],
    ['a status named like a property', { appliedStatus: 'constructor' }, { kind: 'apply' }],
    ['no expectation', { expectation: undefined }, waiting('unhandled', 'no_expectation')],
    [
      'no expectation, two bodies',
      { expectation: undefined, bodies: [body('500'), body('501')] },
      waiting('conflict', 'different_bodies'),
    ],
    [
      'settled by another',
      { expectation: { ...expectation, settledBy: 'b' } },
      waiting('conflict', 'already_settled'),
    ],
    ['settled by itself', { expectation: { ...expectation, settledBy: 'a' } }, { kind: 'apply' }],
    ['another amount', { bodies: [body('501')] }, waiting('quarantined', 'amount_mismatch')],
    ['another currency', { bodies: [body('500', '500', 'USD')] }, waiting('quarantined', 'amount_mismatch')],
    ['no amount', { bodies: [body(null)] }, waiting('quarantined', 'amount_mismatch')],
    ['half of it', { bodies: [body('500', '501')] }, waiting('quarantined', 'amount_mismatch')],
    ['a contradicting body', { bodies: [body('500'), body('7')] }, { kind: 'apply', isContradicted: true }],
    [
      'a body that equals a replaced amount',
      {
        bodies: [body('500'), body('7')],
        expectation: { ...expectation, replaced: [earlier('8'), earlier('7')] },
      },
      waiting('conflict', 'contradicting_bodies'),
    ],
    [
      'nothing but a body that equals a replaced amount',
      { bodies: [body('7')], expectation: { ...expectation, replaced: [earlier('7')] } },
      waiting('conflict', 'contradicting_bodies'),
    ],
    [
      'a replaced amount that was taken back',
      { expectation: { ...expectation, replaced: [earlier('500'), earlier('7')] } },
      { kind: 'apply', isContradicted: false },
    ],
    [
      'two halves',
      { bodies: [body('500', '501'), body('501', '500')] },
      waiting('quarantined', 'amount_mismatch'),
    ],
  ])('%s', (_name, changes, wanted) => {
    expect(verdict(changes)).toMatchObject(wanted);
  });

  it('other statuses are applied without money, and a late one is superseded when it is not final', () => {
    const other = (transaction_status: string): Partial<TransitionCase> => ({
      signed: { ...SIGNED, transaction_status },
      expectation: undefined,
    });
    expect(verdict(other('FAILED'), EVERYTHING)).toMatchObject({ kind: 'apply', settled: undefined });
    const late = (status: string): Verdict =>
      verdict({ ...other(status), appliedStatus: 'COMPLETED' }, EVERYTHING);
    expect(late('PENDING')).toEqual(parked('superseded', 'late_status'));
    expect(late('FAILED')).toEqual(parked('quarantined', 'transition_not_allowed'));
    expect(late('COMPLETED')).toEqual(parked('quarantined', 'transition_not_allowed'));
  });

  it('threat A5: the order of the bodies and any number of forged ones change nothing', () => {
    const amounts = fc.constantFrom('499', '501', '5000000', '-500', '500.1', null);
    const forged = fc.tuple(amounts, fc.constantFrom('500', '501', null), fc.constantFrom('UGX', 'USD'));
    fc.assert(
      fc.property(
        fc.array(forged, { maxLength: 8 }),
        fc.nat(8),
        fc.boolean(),
        (forgeries, place, isGenuine) => {
          const bodies = forgeries.map(([request, transaction, currency]) =>
            body(request, transaction, currency),
          );
          if (isGenuine) bodies.splice(place, 0, body('500'));
          if (bodies.length === 0) return;
          const found = verdict({ bodies });
          if (isGenuine) {
            expect(found).toEqual({
              kind: 'apply',
              settled: earlier('500'),
              digest: '500/500/UGX',
              isContradicted: bodies.length > 1,
            });
          } else {
            expect(found).toEqual(waiting('quarantined', 'amount_mismatch'));
          }
        },
      ),
    );
  });

  it('money is applied only as the expectation, whatever else is the case', () => {
    const cases = fc.record({
      bodies: fc.array(fc.constantFrom(body('500'), body('1'), body('500', '1')), { maxLength: 3 }),
      expectation: fc.constantFrom(undefined, expectation, { ...expectation, settledBy: 'b' }),
      appliedStatus: fc.constantFrom(undefined, 'COMPLETED', 'FAILED'),
      unfinished: fc.nat(4),
      isWaived: fc.boolean(),
      signed: fc.record({
        event: fc.constantFrom('transaction.completed', 'x'),
        merchant_reference: fc.constantFrom('ORD-1', ''),
        internal_reference: fc.constantFrom('INT-1', ''),
        transaction_type: fc.constant('COLLECTION'),
        transaction_status: fc.constantFrom('COMPLETED', 'FAILED', 'PENDING'),
      }),
    });
    fc.assert(
      fc.property(cases, fc.boolean(), (changes, isHandled) => {
        const found = verdict(changes, { isHandled: () => isHandled });
        if (found.kind === 'park') return;
        const { event, transaction_status, merchant_reference } = changes.signed;
        const isCompleted = event === 'transaction.completed' && transaction_status === 'COMPLETED';
        expect(found.settled).toEqual(isCompleted ? earlier('500') : undefined);
        if (isCompleted) expect(changes.bodies.map(({ digest }) => digest)).toContain('500/500/UGX');
        expect(changes.unfinished).toBeLessThan(3);
        expect(isHandled && merchant_reference !== '').toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
