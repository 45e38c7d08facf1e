import { expect, test } from 'vitest';
import {
  type Answer,
  type Effect,
  FAULTS,
  type Fault,
  type History,
  judgeHistory,
  type Request,
} from '../../src/history/judge-history.ts';
import { runLeaseQueue } from '../../src/history/lease-queue.ts';
import { paymentAt, paymentsFor, transitionsOf } from '../../src/history/payment-plan.ts';
import { cleanUp } from '../../src/measure/program.ts';

/** A payment of 500 that is expected at 10, paid at 20, and applied at 30. */
const EXPECTED: Request = {
  kind: 'expectation',
  payment: 'A',
  money: 'UGX 500',
  began: 10,
  ended: 12,
  answer: 'acknowledged',
};
const PAID: Request = {
  ...EXPECTED,
  kind: 'callback',
  subject: 'INT-A',
  transition: 'T-A',
  status: 'COMPLETED',
  body: 'B-A',
  began: 20,
  ended: 22,
  answer: 'first',
};
const APPLIED: Effect = {
  payment: 'A',
  subject: 'INT-A',
  transition: 'T-A',
  status: 'COMPLETED',
  money: 'UGX 500',
  began: 30,
  ended: 32,
};
const FAILED_LATER: Request = {
  ...PAID,
  transition: 'T-A2',
  status: 'FAILED',
  body: 'B-A2',
  began: 40,
  ended: 42,
};
const PENDING: Request = {
  ...PAID,
  transition: 'T-A0',
  status: 'PENDING',
  body: 'B-A0',
  began: 14,
  ended: 15,
};
const FORGED: Request = { ...PAID, money: 'UGX 900', body: 'B-F', began: 16, ended: 17 };
const RIVAL: Request = { ...PAID, subject: 'INT-B', transition: 'T-B', body: 'B-B' };

function again(answer: Answer, began: number, ended: number): Request {
  return { ...PAID, answer, began, ended };
}

interface Change {
  readonly requests?: readonly Request[];
  readonly effects?: readonly Effect[];
  readonly kept?: readonly string[];
}

function faultsIn({ requests = [EXPECTED, PAID], effects = [APPLIED], kept }: Change): readonly string[] {
  const bodies = requests.flatMap(({ body, answer }) => (body && answer !== 'refused' ? [body] : []));
  const { faults } = judgeHistory({ requests, effects, kept: new Set(kept ?? bodies) });
  return Object.entries(faults).flatMap(([fault, all]) => (all.length > 0 ? [fault] : []));
}

const GOOD: Readonly<Record<string, Change>> = {
  'one payment, applied once': {},
  'nothing at all': { requests: [], effects: [] },
  'a callback without an answer, and no effect': {
    requests: [EXPECTED, again('none', 20, 22)],
    effects: [],
    kept: [],
  },
  'a callback without an answer, and one effect, long after it was given up': {
    requests: [EXPECTED, again('none', 20, 22)],
    effects: [{ ...APPLIED, began: 9000, ended: 9001 }],
  },
  'an expectation without an answer, and one effect': {
    requests: [{ ...EXPECTED, answer: 'none' }, PAID],
  },
  'an effect while its request still waits for the answer': {
    effects: [{ ...APPLIED, began: 21, ended: 21.5 }],
  },
  'a payment that is not expected, and not applied': { requests: [PAID], effects: [] },
  'an expectation that comes after the callback': {
    requests: [PAID, { ...EXPECTED, began: 24, ended: 25 }],
  },
  'a repetition that is answered before the first one, which it overlaps': {
    requests: [EXPECTED, PAID, again('repetition', 20.5, 21)],
  },
  'only repetitions were answered: the first was lost with its answer': {
    requests: [EXPECTED, again('none', 20, 22), again('repetition', 23, 24), again('repetition', 25, 26)],
  },
  'a spool that does not say whether it knew the body, and a first answer later': {
    requests: [EXPECTED, again('acknowledged', 20, 22), again('first', 23, 24)],
  },
  'a forged amount that is accepted and never applied': { requests: [EXPECTED, FORGED, PAID] },
  'only a forged amount, and nothing applied': { requests: [EXPECTED, FORGED], effects: [] },
  'a refused callback without an effect': {
    requests: [EXPECTED, again('refused', 20, 22)],
    effects: [],
  },
  'two transactions for one payment, and one of them applied': { requests: [EXPECTED, PAID, RIVAL] },
  'a status before the payment, applied before it': {
    requests: [EXPECTED, PENDING, PAID],
    effects: [
      { ...APPLIED, transition: 'T-A0', status: 'PENDING', money: '', began: 25, ended: 30 },
      APPLIED,
    ],
  },
  'a late failure that is acknowledged and not applied': { requests: [EXPECTED, PAID, FAILED_LATER] },
};

test.each(Object.entries(GOOD))('a history is found correct: %s', (_, change) => {
  expect(faultsIn(change)).toEqual([]);
});

const BAD: readonly (readonly [Fault, string, Change])[] = [
  ['lost', 'an acknowledged payment without an effect', { effects: [] }],
  [
    'lost',
    'one that was acknowledged on repetition only',
    {
      requests: [EXPECTED, again('none', 20, 22), again('repetition', 23, 24)],
      effects: [],
    },
  ],
  [
    'lost',
    'one that a spool acknowledged',
    { requests: [EXPECTED, again('acknowledged', 20, 22)], effects: [] },
  ],
  ['doubled', 'the same transition twice', { effects: [APPLIED, { ...APPLIED, began: 34, ended: 36 }] }],
  [
    'doubled',
    'two transactions of one payment',
    {
      requests: [EXPECTED, PAID, RIVAL],
      effects: [APPLIED, { ...APPLIED, subject: 'INT-B', transition: 'T-B' }],
    },
  ],
  [
    'doubled',
    'a callback without an answer, twice',
    {
      requests: [EXPECTED, again('none', 20, 22)],
      effects: [APPLIED, { ...APPLIED, began: 34, ended: 36 }],
    },
  ],
  [
    'unasked',
    'a payment that was never sent',
    {
      requests: [EXPECTED, PAID],
      effects: [
        APPLIED,
        {
          ...APPLIED,
          payment: 'Z',
          subject: 'INT-Z',
          transition: 'T-Z',
        },
      ],
    },
  ],
  ['unasked', 'a payment that nothing expects', { requests: [PAID] }],
  ['unasked', 'a callback that was refused', { requests: [EXPECTED, again('refused', 20, 22)] }],
  [
    'unasked',
    'another status than the one that was sent',
    {
      requests: [EXPECTED, { ...PAID, status: 'PENDING' }],
    },
  ],
  [
    'forged',
    'the amount of a forged body',
    {
      requests: [EXPECTED, FORGED, PAID],
      effects: [{ ...APPLIED, money: 'UGX 900' }],
    },
  ],
  ['forged', 'the expected amount, which no body claims', { requests: [EXPECTED, FORGED] }],
  ['early', 'an effect before its callback began', { effects: [{ ...APPLIED, began: 19, ended: 32 }] }],
  [
    'early',
    'an effect before its expectation began',
    {
      requests: [{ ...EXPECTED, began: 31, ended: 33 }, PAID],
    },
  ],
  [
    'early',
    'an effect before the one body that justifies it, and after a forged one',
    {
      requests: [EXPECTED, FORGED, PAID],
      effects: [{ ...APPLIED, began: 18, ended: 19 }],
    },
  ],
  [
    'disordered',
    'a failure after the payment',
    {
      requests: [EXPECTED, PAID, FAILED_LATER],
      effects: [
        APPLIED,
        { ...APPLIED, transition: 'T-A2', status: 'FAILED', money: '', began: 50, ended: 51 },
      ],
    },
  ],
  [
    'disordered',
    'two handlers of one internal_reference at the same time',
    {
      requests: [EXPECTED, PENDING, PAID],
      effects: [
        { ...APPLIED, transition: 'T-A0', status: 'PENDING', money: '', began: 25, ended: 31 },
        APPLIED,
      ],
    },
  ],
  ['misanswered', 'two first answers for one body', { requests: [EXPECTED, PAID, again('first', 23, 24)] }],
  [
    'misanswered',
    'a repetition that ended before anything else began',
    {
      requests: [EXPECTED, again('repetition', 14, 15), PAID],
    },
  ],
  ['misanswered', 'a repetition of nothing', { requests: [EXPECTED, again('repetition', 20, 22)] }],
  ['dropped', 'an acknowledged body that is not kept', { kept: [] }],
  ['invented', 'a body that was never sent', { kept: ['B-A', 'B-Z'] }],
  [
    'invented',
    'a body that was refused',
    {
      requests: [EXPECTED, again('refused', 20, 22)],
      effects: [],
      kept: ['B-A'],
    },
  ],
];

test.each(BAD)('a history is found faulty, and only %s: %s', (fault, _, change) => {
  expect(faultsIn(change)).toEqual([fault]);
});

test('every kind of fault has a history that has it alone', () => {
  expect(new Set(BAD.map(([fault]) => fault))).toEqual(new Set(Object.keys(FAULTS)));
});

test('a verdict counts what was sent, promised and applied', () => {
  const requests = [
    EXPECTED,
    again('none', 20, 22),
    PAID,
    again('repetition', 30, 31),
    { ...RIVAL, answer: 'refused' as const },
  ];
  expect(judgeHistory({ requests, effects: [APPLIED], kept: new Set(['B-A']) })).toMatchObject({
    requests: 5,
    acknowledgements: 3,
    unanswered: 1,
    repetitions: 1,
    refusals: 1,
    bodies: 1,
    due: 1,
    appliedOnce: 1,
  });
});

test('a long history is correct, and faulty once one effect in it is removed, doubled or moved', () => {
  const history = generated(400);
  const { effects } = history;
  expect(faultsOf(history)).toEqual([]);
  const index = 123;
  const one = effects[index] as Effect;
  const others = effects.toSpliced(index, 1);
  expect(faultsOf({ ...history, effects: others })).toEqual(['lost']);
  expect(faultsOf({ ...history, effects: [...effects, one] })).toEqual(['doubled']);
  expect(faultsOf({ ...history, effects: [...others, { ...one, began: -1, ended: 0 }] })).toEqual(['early']);
});

test('a queue with leases applies a payment twice when its worker is paused, and its history is found faulty', async () => {
  const history = await runLeaseQueue();
  await cleanUp();
  expect(faultsOf({ ...history, effects: [...history.effects] })).toEqual(['doubled']);
});

interface Generated extends History {
  readonly effects: readonly Effect[];
}

function faultsOf(history: Generated): readonly string[] {
  const { faults } = judgeHistory(history);
  return Object.entries(faults).flatMap(([fault, all]) => (all.length > 0 ? [fault] : []));
}

/** What a correct system would leave of the plan of a run: everything is acknowledged, and each due payment applied. */
function generated(payments: number): Generated {
  const requests: Request[] = [];
  const effects: Effect[] = [];
  for (let index = 0; index < payments; index++) {
    const { reference, kind, expectation, rounds } = paymentAt(7, index);
    const at = 10 * index;
    const money = `${expectation?.currency} ${expectation?.amount}`;
    const times = { began: at, ended: at + 1 };
    if (expectation !== undefined) requests.push({ ...EXPECTED, payment: reference, money, ...times });
    const seen = new Set<string>();
    for (const { facts } of rounds.flat()) {
      const known = seen.has(facts.body) ? 'repetition' : 'first';
      requests.push({ kind: 'callback', ...facts, ...times, answer: kind === 'refused' ? 'refused' : known });
      seen.add(facts.body);
    }
    const paid = rounds.flat().find(({ facts }) => facts.status === 'COMPLETED' && facts.money === money);
    if (paid === undefined || kind === 'refused' || expectation === undefined) continue;
    const { body: _, ...facts } = paid.facts;
    effects.push({ ...facts, began: at + 2, ended: at + 3 });
  }
  const kept = requests.flatMap(({ body, answer }) => (body && answer !== 'refused' ? [body] : []));
  return { requests, effects, kept: new Set(kept) };
}

test('the plan is the same for the same seed, and another one for another', () => {
  const bodies = (index: number): unknown =>
    paymentAt(7, index)
      .rounds.flat()
      .map(({ facts }) => facts.body);
  expect(bodies(3)).toEqual(bodies(3));
  expect(paymentAt(7, 3).reference).not.toBe(paymentAt(8, 3).reference);
});

test('the plan holds every kind, as many transitions as asked for, and forged bodies of a genuine transition', () => {
  const payments = Array.from({ length: paymentsFor(7, 400) }, (_, index) => paymentAt(7, index));
  expect(new Set(payments.map(({ kind }) => kind)).size).toBe(10);
  expect(payments.flatMap((payment) => [...transitionsOf(payment)]).length).toBeGreaterThanOrEqual(400);
  for (const { rounds } of payments.filter(({ kind }) => kind === 'forged_first')) {
    const facts = rounds.flat().map((one) => one.facts);
    expect(new Set(facts.map(({ transition }) => transition)).size).toBe(1);
    expect(new Set(facts.map(({ body }) => body)).size).toBeGreaterThan(1);
  }
});
