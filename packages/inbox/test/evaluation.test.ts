import type { SignedFields } from '@payment-service/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EvaluationRules, evaluate, type TransitionCase } from '../src/verdict/evaluate.ts';

type Body = TransitionCase['bodies'][number];
const RULES: EvaluationRules = {
  completedEvents: ['transaction.completed'],
  statuses: { PENDING: 'interim', FAILED: 'failed', REVERSED: 'reversed' },
};
const HANDLED = ['COMPLETED', 'REVERSED'];
const FIELDS = {
  event: 'transaction.completed',
  merchant_reference: 'ORD-1',
  internal_reference: 'INT-1',
  transaction_type: 'COLLECTION',
  transaction_status: 'COMPLETED',
};
const money = (amount: string) => ({ currency: 'UGX', amount, compare: 'both' as const });
const EXPECTED = { ...money('500'), settledBy: undefined, replaced: [], isCanceled: false };
const COMPLETED: TransitionCase = {
  transitionId: 'a',
  signed: FIELDS,
  refusals: [],
  orderPaid: '0',
  bodies: [body('500')],
  expectation: EXPECTED,
  appliedStatus: undefined,
  isArchived: false,
  isPaidByAnother: false,
  unfinished: 0,
  isWaived: false,
};

function body(request: string | null, transaction: string | null = request, currency = 'UGX'): Body {
  const claim = (amount: string | null) => ({ currency, amount });
  const digest = `${request}/${transaction}/${currency}`;
  return { digest, request: claim(request), transaction: claim(transaction) };
}

const signed = (fields: Partial<SignedFields>) => ({ signed: { ...FIELDS, ...fields } });
const status = (transaction_status: string) => signed({ transaction_status });
const other = (transaction_status: string) => signed({ transaction_status, event: 'transaction.other' });
const bodies = (...all: readonly Body[]) => ({ bodies: all });
const HALF = bodies(body('500', '7'));
const TWO = bodies(body('500'), body('7'));
const ANOTHER = { isPaidByAnother: true };
const expected = (changes: Partial<NonNullable<TransitionCase['expectation']>>) => ({
  expectation: { ...EXPECTED, ...changes },
});
const earlier = (amount: string) => ({ ...money(amount), by: 'dana', note: 'smaller', at: new Date(0) });
const replaced = (...amounts: readonly string[]) => expected({ replaced: amounts.map(earlier) });

/** The verdict, in one line: with these handlers, or with one of '*' as well. */
function verdict(changes: Partial<TransitionCase>, handled = HANDLED, hasWildcard = false): string {
  const transition = { ...COMPLETED, ...changes };
  const isHandled = hasWildcard || handled.includes(transition.signed.transaction_status);
  const found = evaluate(transition, RULES, isHandled);
  if (found.kind === 'park')
    return `${found.state}: ${found.reason}${found.isWaiting ? ', looks again' : ''}`;
  const { settled, digest, isContradicted } = found;
  return `${found.kind} ${settled?.amount ?? 'nothing'} of ${digest}${isContradicted ? ', contradicted' : ''}`;
}

const APPLIED = 'apply 500 of 500/500/UGX';
const NOTHING = 'apply nothing of 500/500/UGX';
const LATE = 'quarantined: transition_not_allowed';
const UNHANDLED = 'unhandled: no_handler';
const IN_PART = 'quarantined: completed_in_part';
const UNNAMED = 'quarantined: unnamed_after_paid';
const ARCHIVED = 'superseded: archived';
const [SUPERSEDED, BY_ANOTHER] = ['superseded: late_status', 'conflict: paid_by_another'];
const TWO_BODIES = 'conflict: different_bodies, looks again';
const MISMATCH = 'quarantined: amount_mismatch, looks again';
const CONTRADICTING = 'conflict: contradicting_bodies, looks again';

test.each<[name: string, changes: Partial<TransitionCase>, wanted: string]>([
  ['a body equals', {}, APPLIED],
  ['nothing but evidence', { bodies: [], refusals: ['ambiguous'] }, 'quarantined: ambiguous'],
  ['nothing at all', bodies(), 'quarantined: signed_field_malformed'],
  ['archived, before every other rule', { isArchived: true, isWaived: true, unfinished: 3 }, ARCHIVED],
  ['no merchant_reference', signed({ merchant_reference: '' }), 'quarantined: empty_reference'],
  ['no internal_reference', signed({ internal_reference: '' }), 'quarantined: empty_reference'],
  ['a status without a handler', other('OTHER'), UNHANDLED],
  ['COMPLETED under another event', other('COMPLETED'), IN_PART],
  ['another status, no expectation', { ...status('FAILED'), expectation: undefined }, NOTHING],
  ['FAILED after another paid', { ...status('FAILED'), ...ANOTHER }, SUPERSEDED],
  ['PENDING after another paid', { ...status('PENDING'), ...ANOTHER }, 'superseded: late_status'],
  ['FAILED after another paid, waived', { ...status('FAILED'), ...ANOTHER, isWaived: true }, SUPERSEDED],
  ['REVERSED after another paid, waived', { ...status('REVERSED'), ...ANOTHER, isWaived: true }, BY_ANOTHER],
  ['two unfinished starts', { unfinished: 2 }, APPLIED],
  ['three unfinished starts', { unfinished: 3 }, 'quarantined: crash_loop'],
  ['COMPLETED after COMPLETED', { appliedStatus: 'COMPLETED' }, LATE],
  ['FAILED after COMPLETED', { ...status('FAILED'), appliedStatus: 'COMPLETED' }, LATE],
  ['PENDING after it', { ...status('PENDING'), appliedStatus: 'COMPLETED' }, 'superseded: late_status'],
  ['FAILED after a reversal', { ...status('FAILED'), appliedStatus: 'REVERSED' }, LATE],
  ['COMPLETED after a reversal', { appliedStatus: 'REVERSED' }, LATE],
  ['a reversal after COMPLETED', { ...other('REVERSED'), appliedStatus: 'COMPLETED' }, NOTHING],
  ['FAILED, two bodies', { ...status('FAILED'), ...TWO }, `${NOTHING}, contradicted`],
  ['let through by an operator', { appliedStatus: 'COMPLETED', isWaived: true }, APPLIED],
  ['COMPLETED after FAILED', { appliedStatus: 'FAILED' }, APPLIED],
  ['after a status named like a property', { appliedStatus: 'constructor' }, APPLIED],
  ['no expectation', { expectation: undefined }, 'unhandled: no_expectation, looks again'],
  ['no expectation, two bodies', { expectation: undefined, ...bodies(body('1'), body('2')) }, TWO_BODIES],
  ['settled by another', expected({ settledBy: 'b' }), 'conflict: already_settled, looks again'],
  ['settled by the same transaction', expected({ settledBy: 'a' }), APPLIED],
  ['canceled', expected({ isCanceled: true }), 'quarantined: canceled'],
  ['canceled, waived', { ...expected({ isCanceled: true }), isWaived: true }, APPLIED],
  ['half of it', HALF, MISMATCH],
  ['request, of two', { ...HALF, ...expected({ compare: 'request' }) }, 'apply 500 of 500/7/UGX'],
  ['transaction, of two', { ...HALF, ...expected({ compare: 'transaction' }) }, MISMATCH],
  ['two halves', bodies(body('500', '501'), body('501', '500')), MISMATCH],
  ['two bodies that equal', bodies(body('500'), { ...body('500'), digest: 'b' }), APPLIED],
  ['another body as well', bodies(body('7'), body('500')), `${APPLIED}, contradicted`],
  ['a replaced one as well', { ...bodies(body('500'), body('7')), ...replaced('8', '7') }, CONTRADICTING],
  ['only a replaced one', { ...bodies(body('7')), ...replaced('7') }, CONTRADICTING],
  ['one that was taken back', replaced('500', '7'), APPLIED],
  ['replaced by another comparison', expected({ compare: 'request', replaced: [earlier('500')] }), APPLIED],
])('%s', (_, changes, wanted) => {
  expect(verdict(changes)).toBe(wanted);
});

const ANOTHER_PAID = { ...expected({ settledBy: 'b' }), isPaidByAnother: true };
const PAID = { appliedStatus: 'COMPLETED' };
const WAIVED = { isWaived: true };
const PAID_BEFORE = { ...expected({ settledBy: 'b' }), appliedStatus: 'REFUNDED' };

test.each<[name: string, changes: Partial<TransitionCase>, wanted: string, unhandled?: string]>([
  ['a completed event', status('Completed'), IN_PART],
  ['a completed event, waived', { ...status('Completed'), ...WAIVED }, IN_PART],
  ['the completed status', other('COMPLETED'), IN_PART],
  ['after COMPLETED', { ...other('RETURNED'), ...PAID }, UNNAMED],
  ['after COMPLETED, waived', { ...other('RETURNED'), ...PAID, ...WAIVED }, UNNAMED],
  ['after a status that followed COMPLETED', { ...other('RETURNED'), ...PAID_BEFORE }, UNNAMED],
  ['an interim status, completed event', status('PENDING'), NOTHING],
  ['an interim status, after COMPLETED', { ...other('PENDING'), ...PAID }, SUPERSEDED],
  ['a reversal, after COMPLETED', { ...other('REVERSED'), ...PAID }, NOTHING, UNNAMED],
  ['after another has paid', { ...other('RETURNED'), ...ANOTHER_PAID }, BY_ANOTHER, UNHANDLED],
  ['neither', other('OTHER'), NOTHING, UNHANDLED],
  ['both', {}, APPLIED, UNHANDLED],
])(
  'threat A71: a handler of other statuses records no question about money: %s',
  (_, changes, wanted, unhandled = wanted) => {
    expect(verdict(changes, [], true)).toBe(wanted);
    expect(verdict(changes, [])).toBe(unhandled);
  },
);

test('threat A5: the order of the bodies and any number of forged ones change nothing', () => {
  const amounts = fc.constantFrom('499', '501', '5000000', '-500', '500.1', null);
  const forged = fc.tuple(amounts, fc.constantFrom('500', '501', null), fc.constantFrom('UGX', 'USD'));
  const forgeries = fc.array(forged, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(forgeries, fc.nat(8), (claims, place) => {
      const all = claims.map((claim) => body(...claim));
      expect(verdict({ bodies: all })).toMatch(
        /^quarantined: (?:amount_mismatch|currency_mismatch|amount_missing), /,
      );
      expect(verdict({ bodies: all.toSpliced(place, 0, body('500')) })).toBe(`${APPLIED}, contradicted`);
    }),
  );
});
