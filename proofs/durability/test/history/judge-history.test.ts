import { expect, test } from 'vitest';
import {
  type Answer,
  type Effect,
  type Fault,
  judgeHistory,
  type Request,
} from '../../src/history/judge-history.ts';
import { paymentAt } from '../../src/history/payment-plan.ts';

/** A payment of 500, expected at 10, paid at 20 and applied at 30. */
const MONEY = { payment: 'A', money: 'UGX 500' };
const TRANSITION = { subject: 'INT-A', transition: 'T-A', status: 'COMPLETED' };
const EXPECTED: Request = { ...MONEY, kind: 'expectation', began: 10, ended: 12, answer: 'acknowledged' };
const SENT = { ...MONEY, ...TRANSITION, began: 20, ended: 22 };
const PAID: Request = { ...SENT, kind: 'callback', body: 'B-A', answer: 'first' };
const APPLIED: Effect = { ...MONEY, ...TRANSITION, began: 30, ended: 32 };
const APPLIED_AGAIN: Effect = { ...APPLIED, began: 34, ended: 36 };

const paid = (changes: Partial<Request>): Request => ({ ...PAID, ...changes });
const applied = (changes: Partial<Effect>): Effect => ({ ...APPLIED, ...changes });
const again = (answer: Answer, began: number, ended: number): Request => paid({ answer, began, ended });

const UNANSWERED = again('none', 20, 22);
const REFUSED = again('refused', 20, 22);
const SPOOLED = again('acknowledged', 20, 22);
const REPEATED = again('repetition', 23, 24);
const LATER = { transition: 'T-A2', status: 'FAILED' };
const FAILED_LATER = paid({ ...LATER, body: 'B-A2', began: 40, ended: 42 });
const FAILURE_APPLIED = applied({ ...LATER, money: '', began: 50, ended: 51 });
const EARLIER = { transition: 'T-A0', status: 'PENDING' };
const PENDING = paid({ ...EARLIER, body: 'B-A0', began: 14, ended: 15 });
const pendingApplied = (ended: number): Effect => applied({ ...EARLIER, money: '', began: 25, ended });
const FORGED = paid({ money: 'UGX 900', body: 'B-F', began: 16, ended: 17 });
const RIVAL = paid({ subject: 'INT-B', transition: 'T-B', body: 'B-B' });
const RIVAL_APPLIED = applied({ subject: 'INT-B', transition: 'T-B' });
/** Another payment, at the same times. */
const OTHER = { payment: 'B' };
const TWO_PAYMENTS = [EXPECTED, PAID, { ...EXPECTED, ...OTHER }, { ...RIVAL, ...OTHER }];
const OTHER_APPLIED = { ...RIVAL_APPLIED, ...OTHER };

interface Change {
  readonly requests?: readonly Request[];
  readonly effects?: readonly Effect[];
  readonly kept?: readonly string[];
}

function faultsIn({ requests = [EXPECTED, PAID], effects = [APPLIED], kept }: Change): readonly string[] {
  const { faults } = judgeHistory({ requests, effects, kept: new Set(kept ?? bodiesOf(requests)) });
  return Object.entries(faults).flatMap(([fault, all]) => (all.length > 0 ? [fault] : []));
}

function bodiesOf(requests: readonly Request[]): readonly string[] {
  return requests.flatMap(({ body, answer }) => (body && answer !== 'refused' ? [body] : []));
}

const GOOD: Readonly<Record<string, Change>> = {
  'one payment, applied once': {},
  'two payments, each applied once': { requests: TWO_PAYMENTS, effects: [APPLIED, OTHER_APPLIED] },
  'nothing at all': { requests: [], effects: [] },
  'a callback without an answer, and no effect': { requests: [EXPECTED, UNANSWERED], effects: [], kept: [] },
  'a callback without an answer, and one effect, long after it was given up': {
    requests: [EXPECTED, UNANSWERED],
    effects: [applied({ began: 9000, ended: 9001 })],
  },
  'an expectation without an answer, and one effect': { requests: [{ ...EXPECTED, answer: 'none' }, PAID] },
  'an effect while its request still waits for the answer': {
    effects: [applied({ began: 21, ended: 21.5 })],
  },
  'a payment that is not expected, and not applied': { requests: [PAID], effects: [] },
  'an expectation that comes after the callback': { requests: [PAID, { ...EXPECTED, began: 24, ended: 25 }] },
  'a repetition that is answered before the first one, which it overlaps': {
    requests: [EXPECTED, PAID, again('repetition', 20.5, 21)],
  },
  'only repetitions were answered: the first was lost with its answer': {
    requests: [EXPECTED, UNANSWERED, REPEATED, again('repetition', 25, 26)],
  },
  'a spool that does not say whether it knew the body, and a first answer later': {
    requests: [EXPECTED, SPOOLED, again('first', 23, 24)],
  },
  'a forged amount that is accepted and never applied': { requests: [EXPECTED, FORGED, PAID] },
  'only a forged amount, and nothing applied': { requests: [EXPECTED, FORGED], effects: [] },
  'a refused callback without an effect': { requests: [EXPECTED, REFUSED], effects: [] },
  'two transactions for one payment, and one of them applied': { requests: [EXPECTED, PAID, RIVAL] },
  'a status before the payment, applied before it': {
    requests: [EXPECTED, PENDING, PAID],
    effects: [pendingApplied(30), APPLIED],
  },
  'a late failure that is acknowledged and not applied': { requests: [EXPECTED, PAID, FAILED_LATER] },
};

test.each(Object.entries(GOOD))('a history is found correct: %s', (_, change) => {
  expect(faultsIn(change)).toEqual([]);
});

const BAD: Readonly<Record<Fault, Readonly<Record<string, Change>>>> = {
  lost: {
    'an acknowledged payment without an effect': { effects: [] },
    'one that was acknowledged on repetition only': {
      requests: [EXPECTED, UNANSWERED, REPEATED],
      effects: [],
    },
    'one of two payments': { requests: TWO_PAYMENTS, effects: [OTHER_APPLIED] },
    'one that a spool acknowledged': { requests: [EXPECTED, SPOOLED], effects: [] },
  },
  doubled: {
    'the same transition twice': { effects: [APPLIED, APPLIED_AGAIN] },
    'a status before the payment, twice': {
      requests: [EXPECTED, PENDING, PAID],
      effects: [pendingApplied(26), { ...pendingApplied(28), began: 27 }, APPLIED],
    },
    'two transactions of one payment': {
      requests: [EXPECTED, PAID, RIVAL],
      effects: [APPLIED, RIVAL_APPLIED],
    },
    'a callback without an answer, twice': {
      requests: [EXPECTED, UNANSWERED],
      effects: [APPLIED, APPLIED_AGAIN],
    },
  },
  unasked: {
    'a payment that was never sent': {
      effects: [APPLIED, applied({ payment: 'Z', subject: 'INT-Z', transition: 'T-Z' })],
    },
    'a payment that nothing expects': { requests: [PAID] },
    'a payment beside the expectation of another': {
      requests: [EXPECTED, { ...RIVAL, ...OTHER }],
      effects: [OTHER_APPLIED],
    },
    'another transition than the one that was sent': { effects: [applied({ transition: 'T-Z' })] },
    'a callback that was refused': { requests: [EXPECTED, REFUSED] },
    'another status than the one that was sent': { requests: [EXPECTED, paid({ status: 'PENDING' })] },
  },
  forged: {
    'the amount of a forged body': {
      requests: [EXPECTED, FORGED, PAID],
      effects: [applied({ money: 'UGX 900' })],
    },
    'the expected amount, which no body claims': { requests: [EXPECTED, FORGED] },
  },
  early: {
    'an effect before its callback began': { effects: [applied({ began: 19 })] },
    'an effect before its expectation began': { requests: [{ ...EXPECTED, began: 31, ended: 33 }, PAID] },
    'an effect before the one body that justifies it, and after a forged one': {
      requests: [EXPECTED, FORGED, PAID],
      effects: [applied({ began: 18, ended: 19 })],
    },
  },
  disordered: {
    'a failure after the payment': {
      requests: [EXPECTED, PAID, FAILED_LATER],
      effects: [APPLIED, FAILURE_APPLIED],
    },
    'two handlers of one internal_reference at the same time': {
      requests: [EXPECTED, PENDING, PAID],
      effects: [pendingApplied(31), APPLIED],
    },
  },
  misanswered: {
    'two first answers for one body': { requests: [EXPECTED, PAID, again('first', 23, 24)] },
    'a repetition that ended before anything else began': {
      requests: [EXPECTED, again('repetition', 14, 15), PAID],
    },
    'a repetition of nothing': { requests: [EXPECTED, again('repetition', 20, 22)] },
  },
  dropped: { 'an acknowledged body that is not kept': { kept: [] } },
  invented: {
    'a body that was never sent': { kept: ['B-A', 'B-Z'] },
    'a body that was refused': { requests: [EXPECTED, REFUSED], effects: [], kept: ['B-A'] },
  },
};

test.each(
  Object.entries(BAD).flatMap(([fault, all]) =>
    Object.entries(all).map(([name, change]) => [fault, name, change] as const),
  ),
)('a history is found faulty, and only %s: %s', (fault, _, change) => {
  expect(faultsIn(change)).toEqual([fault]);
});

test('a verdict counts what was sent, promised and applied', () => {
  const requests = [
    EXPECTED,
    again('none', 20, 22),
    PAID,
    again('repetition', 30, 31),
    { ...RIVAL, answer: 'refused' as const },
  ];
  const kept = new Set(['B-A']);
  expect(judgeHistory({ requests, effects: [APPLIED, APPLIED_AGAIN], kept }).appliedOnce).toBe(0);
  expect(judgeHistory({ requests, effects: [APPLIED], kept })).toMatchObject({
    requests: 5,
    unanswered: 1,
    bodies: 1,
    due: 1,
    appliedOnce: 1,
  });
});

test('the plan is the same for the same seed, and another one for another', () => {
  const bodies = (index: number): unknown =>
    paymentAt(7, index)
      .rounds.flat()
      .map(({ facts }) => facts.body);
  expect(bodies(3)).toEqual(bodies(3));
  expect(paymentAt(7, 3).reference).not.toBe(paymentAt(8, 3).reference);
});

test('the plan has every kind, and forged bodies of a genuine transition', () => {
  const payments = Array.from({ length: 400 }, (_, index) => paymentAt(7, index));
  expect(new Set(payments.map(({ kind }) => kind)).size).toBe(10);
  for (const { rounds } of payments.filter(({ kind }) => kind === 'forged_first')) {
    const facts = rounds.flat().map((one) => one.facts);
    expect(new Set(facts.map(({ transition }) => transition)).size).toBe(1);
    expect(new Set(facts.map(({ body }) => body)).size).toBeGreaterThan(1);
  }
});
