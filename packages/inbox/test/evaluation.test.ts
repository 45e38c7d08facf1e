import type { SignedFields } from '@payment-service/core';
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

const earlier = (amount: string): ExpectedMoney => ({ currency: 'UGX', amount, compare: 'both' });
const signed = (fields: Partial<SignedFields>) => ({ signed: { ...SIGNED, ...fields } });
const expected = (changes: Partial<NonNullable<TransitionCase['expectation']>>) => ({
  expectation: { ...earlier('500'), settledBy: undefined, replaced: [], ...changes },
});

/** In one line. */
function lineOf(found: Verdict): string {
  if (found.kind === 'park')
    return `${found.state}: ${found.reason}${found.isWaiting ? ', looks again' : ''}`;
  const { settled, digest, isContradicted } = found;
  return `apply ${settled?.amount ?? 'nothing'} of ${digest}${isContradicted ? ', contradicted' : ''}`;
}

const APPLIED = 'apply 500 of 500/500/UGX';
const MISMATCH = 'quarantined: amount_mismatch, looks again';
const CONTRADICTING = 'conflict: contradicting_bodies, looks again';

describe('evaluate', () => {
  it.each<[name: string, changes: Partial<TransitionCase>, wanted: string]>([
    ['a body equals', {}, APPLIED],
    ['nothing but evidence', { bodies: [], refusal: 'ambiguous' }, 'quarantined: ambiguous'],
    ['no merchant_reference', signed({ merchant_reference: '' }), 'quarantined: empty_reference'],
    ['no internal_reference', signed({ internal_reference: '' }), 'quarantined: empty_reference'],
    ['another status', signed({ transaction_status: 'FAILED' }), 'unhandled: no_handler'],
    ['another event', signed({ event: 'transaction.reversed' }), 'unhandled: no_handler'],
    ['two unfinished starts', { unfinished: 2 }, APPLIED],
    ['three unfinished starts', { unfinished: 3 }, 'quarantined: crash_loop'],
    ['COMPLETED was applied', { appliedStatus: 'COMPLETED' }, 'quarantined: transition_not_allowed'],
    ['a person lets it through', { appliedStatus: 'COMPLETED', isWaived: true }, APPLIED],
    ['FAILED was applied', { appliedStatus: 'FAILED' }, APPLIED],
    ['a status named like a property', { appliedStatus: 'constructor' }, APPLIED],
    ['no expectation', { expectation: undefined }, 'unhandled: no_expectation, looks again'],
    [
      'no expectation, two bodies',
      { expectation: undefined, bodies: [body('500'), body('501')] },
      'conflict: different_bodies, looks again',
    ],
    ['settled by another', expected({ settledBy: 'b' }), 'conflict: already_settled, looks again'],
    ['settled by itself', expected({ settledBy: 'a' }), APPLIED],
    ['another amount', { bodies: [body('501')] }, MISMATCH],
    ['another currency', { bodies: [body('500', '500', 'USD')] }, MISMATCH],
    ['no amount', { bodies: [body(null)] }, MISMATCH],
    ['half of it', { bodies: [body('500', '501')] }, MISMATCH],
    ['two halves', { bodies: [body('500', '501'), body('501', '500')] }, MISMATCH],
    ['another body', { bodies: [body('7'), body('500')] }, `${APPLIED}, contradicted`],
    [
      'a replaced amount',
      { bodies: [body('500'), body('7')], ...expected({ replaced: [earlier('8'), earlier('7')] }) },
      CONTRADICTING,
    ],
    [
      'only a replaced one',
      { bodies: [body('7')], ...expected({ replaced: [earlier('7')] }) },
      CONTRADICTING,
    ],
    ['one that was taken back', expected({ replaced: [earlier('500'), earlier('7')] }), APPLIED],
  ])('%s', (_name, changes, wanted) => {
    expect(lineOf(verdict(changes))).toBe(wanted);
  });

  it('other statuses are applied without money, and a late one is superseded when it is not final', () => {
    const other = (transaction_status: string, appliedStatus?: string): string =>
      lineOf(
        verdict({ ...signed({ transaction_status }), expectation: undefined, appliedStatus }, EVERYTHING),
      );
    expect(other('FAILED')).toBe('apply nothing of 500/500/UGX');
    expect(other('PENDING', 'COMPLETED')).toBe('superseded: late_status');
    expect(other('FAILED', 'COMPLETED')).toBe('quarantined: transition_not_allowed');
    expect(other('COMPLETED', 'COMPLETED')).toBe('quarantined: transition_not_allowed');
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
          const applied = bodies.length > 1 ? `${APPLIED}, contradicted` : APPLIED;
          expect(lineOf(verdict({ bodies }))).toBe(isGenuine ? applied : MISMATCH);
        },
      ),
    );
  });

  it('money is applied only as the expectation, whatever else is the case', () => {
    const cases = fc.record({
      bodies: fc.array(fc.constantFrom(body('500'), body('1'), body('500', '1')), { maxLength: 3 }),
      expectation: fc.constantFrom(
        undefined,
        COMPLETED.expectation,
        expected({ settledBy: 'b' }).expectation,
      ),
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
