import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type EvaluatedBody,
  type EvaluationRules,
  evaluate,
  type TransitionCase,
  type Verdict,
} from '../src/evaluation.ts';

const RULES: EvaluationRules = { statuses: undefined, allowTransitions: { COMPLETED: [] } };
const COMPLETED: TransitionCase = {
  transitionId: 'a',
  merchantReference: 'ORD-1',
  internalReference: 'INT-1',
  status: 'COMPLETED',
  isCompleted: true,
  refusal: undefined,
  bodies: [body('500')],
  expectation: { currency: 'UGX', amount: '500', compare: 'both', settledBy: undefined },
  appliedStatus: undefined,
  unfinishedStarts: 0,
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

const parked = (state: string, reason: string): object => ({ kind: 'park', state, reason });
const expectation = COMPLETED.expectation;
if (expectation === undefined) throw new Error('The base case has an expectation.');

describe('evaluate', () => {
  it.each<[name: string, changes: Partial<TransitionCase>, wanted: object]>([
    [
      'a body equals',
      {},
      {
        kind: 'apply',
        settled: { currency: 'UGX', amount: '500' },
        compare: 'both',
        digest: '500/500/UGX',
      },
    ],
    ['nothing but evidence', { bodies: [], refusal: 'ambiguous' }, parked('quarantined', 'ambiguous')],
    ['no merchant_reference', { merchantReference: '' }, parked('quarantined', 'empty_reference')],
    ['no internal_reference', { internalReference: '' }, parked('quarantined', 'empty_reference')],
    ['another status', { status: 'FAILED', isCompleted: false }, parked('unhandled', 'no_handler')],
    ['two unfinished starts', { unfinishedStarts: 2 }, { kind: 'apply' }],
    ['three unfinished starts', { unfinishedStarts: 3 }, parked('quarantined', 'crash_loop')],
    [
      'COMPLETED was applied',
      { appliedStatus: 'COMPLETED' },
      parked('quarantined', 'transition_not_allowed'),
    ],
    ['a person lets it through', { appliedStatus: 'COMPLETED', isWaived: true }, { kind: 'apply' }],
    ['FAILED was applied', { appliedStatus: 'FAILED' }, { kind: 'apply' }],
    ['a status named like a property', { appliedStatus: 'constructor' }, { kind: 'apply' }],
    ['no expectation', { expectation: undefined }, parked('unhandled', 'no_expectation')],
    [
      'no expectation, two bodies',
      { expectation: undefined, bodies: [body('500'), body('501')] },
      parked('conflict', 'different_bodies'),
    ],
    [
      'settled by another',
      { expectation: { ...expectation, settledBy: 'b' } },
      parked('conflict', 'already_settled'),
    ],
    ['settled by itself', { expectation: { ...expectation, settledBy: 'a' } }, { kind: 'apply' }],
    ['another amount', { bodies: [body('501')] }, parked('quarantined', 'amount_mismatch')],
    ['another currency', { bodies: [body('500', '500', 'USD')] }, parked('quarantined', 'amount_mismatch')],
    ['no amount', { bodies: [body(null)] }, parked('quarantined', 'amount_mismatch')],
    ['half of it', { bodies: [body('500', '501')] }, parked('quarantined', 'amount_mismatch')],
    [
      'two halves',
      { bodies: [body('500', '501'), body('501', '500')] },
      parked('quarantined', 'amount_mismatch'),
    ],
  ])('%s', (_name, changes, wanted) => {
    expect(verdict(changes)).toMatchObject(wanted);
  });

  it('with statuses, other ones are applied without money', () => {
    const failed = { status: 'FAILED', isCompleted: false };
    const applied = { kind: 'apply', settled: undefined };
    expect(verdict(failed, { statuses: ['COMPLETED', 'FAILED'] })).toMatchObject(applied);
    expect(verdict({ ...failed, expectation: undefined }, { statuses: ['FAILED'] })).toMatchObject(applied);
    expect(verdict({}, { statuses: ['FAILED'] })).toMatchObject(parked('unhandled', 'no_handler'));
    const reversed = { isCompleted: false };
    expect(verdict(reversed, { statuses: ['COMPLETED'] })).toMatchObject(parked('unhandled', 'no_handler'));
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
              compare: 'both',
              settled: { currency: 'UGX', amount: '500' },
              digest: '500/500/UGX',
            });
          } else {
            expect(found).toEqual(parked('quarantined', 'amount_mismatch'));
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
      unfinishedStarts: fc.nat(4),
      isWaived: fc.boolean(),
      isCompleted: fc.boolean(),
      merchantReference: fc.constantFrom('ORD-1', ''),
    });
    const statuses = fc.constantFrom(undefined, ['COMPLETED'], ['COMPLETED', 'FAILED'], ['FAILED']);
    fc.assert(
      fc.property(cases, statuses, fc.constantFrom('COMPLETED', 'FAILED'), (changes, handled, status) => {
        const isCompleted = status === 'COMPLETED' && changes.isCompleted;
        const found = verdict({ ...changes, status, isCompleted }, { statuses: handled });
        if (found.kind === 'park') return;
        expect(found.settled).toEqual(isCompleted ? { currency: 'UGX', amount: '500' } : undefined);
        if (isCompleted) expect(changes.bodies.map(({ digest }) => digest)).toContain('500/500/UGX');
        expect(changes.unfinishedStarts).toBeLessThan(3);
      }),
      { numRuns: 2000 },
    );
  });
});
