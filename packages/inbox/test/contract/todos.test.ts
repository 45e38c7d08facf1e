/** What an operator reads as "what to do" is done here to the letter, several times: it applies money once, or not at all. */
import { type AuthenticRefusal, StaleError, type VerifiedCallback } from '@payment-service/core';
import { expect, test } from 'vitest';
import type { Inbox, TransitionDetails } from '../../src/index.ts';
import { EVIDENCE_WORDS, REASON_WORDS } from '../../src/words.ts';
import { evidence, paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, newMerchant } from '../support/merchant.ts';
import { creditIn, money, NOTE, type ORDER, REPLACE } from '../support/shop.ts';
import { startWork, until, workOff } from '../support/until.ts';

type AnyInbox = Inbox<AnyTransaction>;

interface Operator {
  readonly inbox: AnyInbox;
  readonly reference: string;
  /** Reads the transition, acts on it as it is, and reads it again if it has changed. */
  decide(act: (seen: TransitionDetails) => Promise<unknown>): Promise<void>;
}
type Act = (operator: Operator) => Promise<unknown>;

interface Todo {
  readonly reason: string;
  /** What is expected before the callbacks arrive. */
  readonly expected?: readonly Partial<typeof ORDER>[];
  /** The last one is the held transition. */
  readonly arrive: (reference: string) => readonly (VerifiedCallback | AuthenticRefusal)[];
  readonly acts: readonly Act[];
  /** What is credited or recorded in the end, apart from the reference. */
  readonly credits: readonly string[];
}

const EXACT = '12345678901234567891';
const EXPECTED = [{}];
const PAID = ['500'];

const decided =
  (act: (inbox: AnyInbox, seen: TransitionDetails) => Promise<unknown>): Act =>
  ({ inbox, decide }) =>
    decide((seen) => act(inbox, seen));
const retry = decided((inbox, seen) => inbox.retry(seen, NOTE));
const close = decided((inbox, seen) => inbox.resolve(seen, NOTE));
const reopen = decided((inbox, seen) => inbox.reopen(seen, NOTE));
const acceptText = decided((inbox, seen) => inbox.acceptText(seen, NOTE));
const accept = (amount: string | null): Act =>
  decided((inbox, seen) => {
    const body = seen.bodies.find(({ transaction }) => transaction.amount === amount)?.digest ?? '';
    return inbox.accept(seen, { ...NOTE, body });
  });
const state =
  (changes: object): Act =>
  ({ inbox, reference }) =>
    inbox.expect({ ...money(reference), ...changes }, REPLACE);

const amounts = (written: string) => (text: string) => text.replace(/(_amount":)500/g, `$1${written}`);
const other = (reference: string, transaction_status: string, event: string, payload = {}) =>
  paid(reference, 500, { transaction_status, ...payload }, { event });
const ANOTHER = { internal_reference: 'INT-ANOTHER' };
const currency = (code: string) => ({ request_currency: code, transaction_currency: code });
const one =
  (...payload: readonly object[]) =>
  (reference: string) => [paid(reference, 500, Object.assign({}, ...payload))];
const two = (reference: string) => [paid(reference, 500), paid(reference, 700)];
const after = (make: (reference: string) => VerifiedCallback) => (reference: string) => [
  paid(reference, 500),
  make(reference),
];
const late = after((reference) => other(reference, 'FAILED', 'transaction.failed'));
const ofAnother = after((reference) => other(reference, 'FAILED', 'transaction.failed', ANOTHER));
const REPLACED = [{}, { amount: '700' }];

const TODOS: readonly Todo[] = [
  { reason: 'no_expectation', arrive: one(), acts: [state({})], credits: PAID },
  {
    reason: 'no_handler',
    arrive: (reference) => [other(reference, 'NEW', 'transaction.new')],
    acts: [retry],
    credits: ['NEW'],
  },
  {
    ...{ reason: 'amount_mismatch', expected: [{ amount: '400' }], arrive: one() },
    ...{ acts: [accept('500')], credits: PAID },
  },
  {
    reason: 'amount_text',
    expected: EXPECTED,
    arrive: (reference) => [paid(reference, 500, {}, { rewrite: amounts('"500"') })],
    ...{ acts: [acceptText], credits: PAID },
  },
  {
    ...{ reason: 'amount_missing', expected: EXPECTED, arrive: one({ request_amount: undefined }) },
    ...{ acts: [state({ compare: 'transaction' })], credits: PAID },
  },
  {
    ...{ reason: 'amount_inexact', expected: EXPECTED },
    arrive: (reference) => [paid(reference, 500, {}, { isParsed: true, rewrite: amounts(EXACT) })],
    ...{ acts: [state({ amount: EXACT }), accept(null)], credits: [EXACT] },
  },
  {
    ...{ reason: 'currency_mismatch', expected: EXPECTED, arrive: one(currency('KES')) },
    ...{ acts: [state({ currency: 'KES' })], credits: PAID },
  },
  {
    ...{ reason: 'currency_case', expected: [{ currency: 'ugx' }], arrive: one() },
    ...{ acts: [state({})], credits: PAID },
  },
  {
    reason: 'completed_in_part',
    expected: EXPECTED,
    arrive: one({ transaction_status: 'Completed' }),
    ...{ acts: [retry], credits: ['Completed'] },
  },
  {
    reason: 'unnamed_after_paid',
    expected: EXPECTED,
    arrive: after((reference) => other(reference, 'REVERSED', 'transaction.reversed')),
    ...{ acts: [reopen], credits: ['500', 'REVERSED'] },
  },
  {
    ...{ reason: 'transition_not_allowed', expected: EXPECTED, arrive: late },
    ...{ acts: [reopen], credits: ['500', 'FAILED'] },
  },
  { reason: 'transition_not_allowed', expected: EXPECTED, arrive: late, acts: [close], credits: PAID },
  { reason: 'crash_loop', expected: EXPECTED, arrive: one(), acts: [retry], credits: PAID },
  { reason: 'empty_reference', arrive: () => one()(''), acts: [close], credits: [] },
  { reason: 'different_bodies', arrive: two, acts: [state({})], credits: PAID },
  { reason: 'different_bodies', arrive: two, acts: [accept('700')], credits: ['700'] },
  { reason: 'contradicting_bodies', expected: REPLACED, arrive: two, acts: [reopen], credits: ['700'] },
  {
    ...{ reason: 'contradicting_bodies', expected: REPLACED, arrive: two },
    ...{ acts: [accept('500'), reopen], credits: PAID },
  },
  { reason: 'paid_by_another', expected: EXPECTED, arrive: ofAnother, acts: [close], credits: PAID },
  {
    ...{ reason: 'paid_by_another', expected: EXPECTED, arrive: ofAnother },
    ...{ acts: [reopen], credits: ['500', 'FAILED'] },
  },
  {
    ...{ reason: 'already_settled', expected: EXPECTED, acts: [close], credits: PAID },
    arrive: after((reference) => paid(reference, 500, ANOTHER)),
  },
  { reason: 'attempts_used_up', expected: EXPECTED, arrive: one(), acts: [retry], credits: PAID },
  { reason: 'transaction_ended', expected: EXPECTED, arrive: one(), acts: [retry], credits: PAID },
  {
    reason: 'timestamp_out_of_tolerance',
    expected: EXPECTED,
    arrive: (reference) => [
      evidence('timestamp_out_of_tolerance', {
        ...{ merchant_reference: reference, internal_reference: `INT-${reference}` },
        ...{ request_amount: 500, transaction_amount: 500 },
      }),
    ],
    ...{ acts: [reopen], credits: PAID },
  },
];

test('every reason that a person can end is tried, and the others say that there is nothing to do', () => {
  const tried = new Set(TODOS.map(({ reason }) => reason));
  const untried = Object.entries(REASON_WORDS).filter(([reason]) => !tried.has(reason));
  expect(untried.map(([, { todo }]) => todo)).toEqual(['Nothing.', 'Nothing.', 'Nothing.']);
  expect(EVIDENCE_WORDS.todo).toContain('Reopen it');
});

test.each(ENGINES)(
  'decision D77: on %s, what a reason tells an operator to do applies the money once, however often it is done',
  async (engine) => {
    const merchant = await newMerchant(engine);
    const record = ({ tx, signed }: Parameters<ReturnType<typeof creditIn>>[0]) =>
      merchant.credit(tx, signed.merchant_reference, signed.transaction_status);
    const options = { retry: { attempts: 1, firstDelayMs: 60_000, longestDelayMs: 60_000 } };
    const faulty = merchant.open(options);
    faulty.handle(async (transition) => {
      const { merchant_reference } = transition.signed;
      await creditIn(merchant)(transition);
      if (merchant_reference.startsWith('attempts_used_up')) throw new Error('The ledger is full.');
      if (merchant_reference.startsWith('transaction_ended')) await transition.tx.query('rollback');
    });
    faulty.handle(record, { status: 'FAILED' });
    const { query, table } = merchant;
    const given = TODOS.map((todo, index) => ({ ...todo, reference: `${todo.reason}-${index}` }));
    await Promise.all(
      given.map(async ({ reference, expected = [] }) => {
        for (const changes of expected) await faulty.expect({ ...money(reference), ...changes }, REPLACE);
      }),
    );
    const crashing = `select id from ${table('callback')} where signed like '%crash_loop%'`;
    // What a callback follows is applied before it arrives.
    for (const round of [0, 1]) {
      const arriving = given.flatMap(({ reference, arrive }) => arrive(reference)[round] ?? []);
      await Promise.all(arriving.map((each) => (each.ok ? faulty.receive(each) : faulty.quarantine(each))));
      await query(`update ${table('transition')} set unfinished = 3 where id in (${crashing})`);
      await workOff(faulty);
    }
    const held = await faulty.list({ limit: 100 });
    const todos = given.map((todo) => {
      const reference = todo.reason === 'empty_reference' ? '' : todo.reference;
      const found = held.find(
        ({ signed, reason }) => reason === todo.reason && signed.merchant_reference === reference,
      );
      expect(found, reference).toBeDefined();
      return { ...todo, reference, id: found?.transitionId ?? '' };
    });
    // After the automatic looks.
    await query(`update ${table('transition')} set next_at = null, looks = 10`);

    const inbox = merchant.open(options);
    inbox.handle(creditIn(merchant));
    for (const status of ['FAILED', 'NEW', 'Completed', 'REVERSED']) inbox.handle(record, { status });
    const stop = startWork(inbox);
    const decide: (id: string, act: (seen: TransitionDetails) => Promise<unknown>) => Promise<void> = async (
      id,
      act,
    ) => {
      const seen = await inbox.show(id);
      const failed =
        seen &&
        (await act(seen).then(
          () => undefined,
          (error: unknown) => error,
        ));
      if (failed instanceof StaleError) return decide(id, act);
      if (failed !== undefined) throw failed;
    };
    // Each act twice, as by two operators, and all of them once more in the end.
    for (const [step, times] of [
      [0, 2],
      [1, 2],
      [0, 1],
      [1, 1],
    ] as const) {
      const acts = todos.flatMap(({ id, reference, acts: { [step]: act } }) => {
        const operator = { inbox, reference, decide: (how: Parameters<typeof decide>[1]) => decide(id, how) };
        return Array.from({ length: times }, () => act?.(operator));
      });
      await Promise.allSettled(acts);
      await until(async () => {
        const { states } = await inbox.stats();
        return states.pending + states.retrying === 0;
      });
    }
    await stop();
    const credits = await merchant.credits();
    for (const { reference, credits: wanted } of todos)
      expect(credits.filter((each) => each.startsWith(`${reference} `)).toSorted(), reference).toEqual(
        wanted.map((each) => `${reference} ${each}`),
      );
  },
);
