/** What an operator reads as "what to do" is done here to the letter, several times: it applies money once, or not at all. */
import { type AuthenticRefusal, StaleError, type VerifiedCallback } from '@payment-service/core';
import { expect } from 'vitest';
import type { Expectation, Inbox, TransitionDetails } from '../../src/index.ts';
import { REASON_WORDS } from '../../src/words.ts';
import { evidence, paid } from './callbacks.ts';
import { commandOn } from './command.ts';
import { formIn, formsIn, pageOf, visit } from './console.ts';
import { type AnyTransaction, type EngineName, type Merchant, newMerchant, STATUSES } from './merchant.ts';
import { actOn, creditIn, money, NOTE, type ORDER, REPLACE } from './shop.ts';
import { startWork, statesOf, until, workOff } from './until.ts';

type AnyInbox = Inbox<AnyTransaction>;

/** Where an operator acts. */
export type Face = 'api' | 'command' | 'console';
type Name = 'retry' | 'resolve' | 'reopen' | 'acceptText' | 'accept';

/** How an operator acts on a transition as it was seen, and states an expectation. */
interface Hands {
  /** @param body The digest of the accepted one. @throws {StaleError} If the transition has changed since it was seen. */
  act(seen: TransitionDetails, name: Name, body?: string): Promise<unknown>;
  state(reference: string, changes: object): Promise<unknown>;
}

interface Operator extends Hands {
  readonly reference: string;
  /** Reads the transition, acts on it as it is, and reads it again if it has changed. */
  decide(act: (seen: TransitionDetails) => Promise<unknown>): Promise<void>;
}
type Act = (operator: Operator) => Promise<unknown>;

/** The acts of a payment, by those of a report. */
const VERBS = {
  ...({ retry: 'retry', resolve: 'close', reopen: 'apply' } as const),
  ...({ acceptText: 'accept', accept: 'accept' } as const),
};

function handsOf(face: Face, inbox: AnyInbox, merchant: Merchant): Hands {
  const state: Hands['state'] = (reference, changes) =>
    inbox.expect({ ...money(reference), ...changes }, REPLACE);
  if (face === 'console') {
    const visitor = visit(inbox);
    const send = async (reference: string, name: string, more: object, about: readonly string[] = []) => {
      const { html } = await visitor.get(pageOf(reference));
      if (!formsIn(html).includes(name)) throw new Error(`${name} is not offered.`);
      const { values, choices } = formIn(html, name);
      const act = choices.find((choice) => about.every((each) => choice.includes(each)));
      const fields = { ...values, ...more, note: NOTE.note, ...(act && name !== 'expect' && { act }) };
      const { status } = await visitor.post(`/act/${name}`, fields);
      if (status === 409) throw new StaleError('The page is out of date.');
      expect(status, name).toBe(303);
    };
    return {
      state: (reference, changes) =>
        send(reference, 'expect', { compare: 'both', ...money(reference), ...changes }),
      act: ({ transitionId, signed }, name, body = '') =>
        send(signed.merchant_reference, VERBS[name], {}, [transitionId, body]),
    };
  }
  const command = commandOn(merchant);
  const run = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await command.run(...args);
    if (stderr.includes('has changed since')) throw new StaleError(stderr);
    if (code !== 0) throw new Error(stderr);
  };
  const person = ['--by', NOTE.by, '--note', NOTE.note];
  if (face === 'command')
    return {
      async act({ transitionId, signed: { merchant_reference, transaction_type } }, name, body) {
        const act = VERBS[name];
        const payment = await inbox.payment(merchant_reference, transaction_type);
        const offered = payment?.acts.find(
          (each) => each.name === act && each.report === transitionId && (body ?? each.body) === each.body,
        );
        if (payment === undefined || offered === undefined) throw new Error(`${act} is not offered.`);
        const { money: { amount, currency } = {}, compare = 'both' } = offered;
        const isFree = act === 'retry' ? [] : ['--revision', payment.revision];
        const accepted = act === 'accept' ? ['--amount', `${amount} ${currency}`, '--compare', compare] : [];
        await run(act, merchant_reference, '--report', transitionId, ...isFree, ...accepted, ...person);
      },
      async state(reference, changes) {
        const { currency, amount, compare } = { compare: 'both', ...money(reference), ...changes };
        const payment = await inbox.payment(reference);
        const seen = payment ? ['--revision', payment.revision, ...person] : [];
        const stated = ['--currency', currency, '--amount', String(amount), '--compare', compare];
        await run('expect', reference, ...stated, ...seen);
      },
    };
  return {
    state,
    async act({ transitionId, signed: { merchant_reference, transaction_type } }, name, body) {
      const { acts = [] } = (await inbox.payment(merchant_reference, transaction_type)) ?? {};
      const offered = acts.find(
        (each) =>
          each.name === VERBS[name] && each.report === transitionId && (body ?? each.body) === each.body,
      );
      if (offered === undefined) throw new Error(`${name} is not offered.`);
      return inbox.act(offered, NOTE);
    },
  };
}

interface Todo {
  readonly reason: string;
  /** What is expected before the callbacks arrive. */
  readonly expected?: readonly (Partial<typeof ORDER> & Pick<Expectation, 'order'>)[];
  /** It is canceled before they arrive. */
  readonly isCanceled?: true;
  /** The last one is the held transition. */
  readonly arrive: (reference: string) => readonly (VerifiedCallback | AuthenticRefusal)[];
  readonly acts: readonly Act[];
  /** What is credited or recorded in the end, apart from the reference. */
  readonly credits: readonly string[];
}

const EXACT = '12345678901234567891';
const EXPECTED = [{}];
/** More than it is left to pay of the order. */
const BEYOND = [{ order: { id: 'ORDER-7', total: 500 } }, { amount: '700' }];
const BEYOND_PAID = {
  expected: BEYOND,
  arrive: (reference: string) => [paid(reference, 700)],
};
const PAID = ['500'];

const doing =
  (name: Name): Act =>
  ({ act, decide }) =>
    decide((seen) => act(seen, name));
const [retry, close, reopen] = [doing('retry'), doing('resolve'), doing('reopen')];
const acceptText = doing('acceptText');
const accept =
  (amount: string | null): Act =>
  ({ act, decide }) =>
    decide((seen) => {
      const body = seen.bodies.find(({ transaction }) => transaction.amount === amount);
      return act(seen, 'accept', body?.digest);
    });
const state =
  (changes: object): Act =>
  (operator) =>
    operator.state(operator.reference, changes);

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
const ofAnother = after((reference) => other(reference, 'REVERSED', 'transaction.reversed', ANOTHER));
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
    arrive: after((reference) => other(reference, 'RETURNED', 'transaction.returned')),
    ...{ acts: [reopen], credits: ['500', 'RETURNED'] },
  },
  {
    ...{ reason: 'transition_not_allowed', expected: EXPECTED, arrive: late },
    ...{ acts: [reopen], credits: ['500', 'FAILED'] },
  },
  { reason: 'transition_not_allowed', expected: EXPECTED, arrive: late, acts: [close], credits: PAID },
  { reason: 'canceled', expected: EXPECTED, isCanceled: true, arrive: one(), acts: [reopen], credits: PAID },
  { reason: 'order_paid', ...BEYOND_PAID, acts: [reopen], credits: ['700'] },
  { reason: 'order_paid', ...BEYOND_PAID, acts: [close], credits: [] },
  { reason: 'crash_loop', expected: EXPECTED, arrive: one(), acts: [retry], credits: PAID },
  { reason: 'empty_reference', arrive: () => one()(''), acts: [close], credits: [] },
  { reason: 'different_bodies', arrive: two, acts: [state({})], credits: PAID },
  { reason: 'different_bodies', arrive: two, acts: [accept('700')], credits: ['700'] },
  { reason: 'contradicting_bodies', expected: REPLACED, arrive: two, acts: [reopen], credits: ['700'] },
  {
    ...{ reason: 'contradicting_bodies', expected: REPLACED, arrive: two },
    ...{ acts: [accept('500'), reopen], credits: PAID },
  },
  { reason: 'canceled', expected: EXPECTED, isCanceled: true, arrive: one(), acts: [reopen], credits: PAID },
  { reason: 'canceled', expected: EXPECTED, isCanceled: true, arrive: one(), acts: [close], credits: [] },
  { reason: 'paid_by_another', expected: EXPECTED, arrive: ofAnother, acts: [close], credits: PAID },
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

/** What to do about the reasons that nothing of this performs. */
export function untriedTodos(): string[] {
  const tried = new Set(TODOS.map(({ reason }) => reason));
  const untried = Object.entries(REASON_WORDS).filter(([reason]) => !tried.has(reason));
  return untried.map(([, { todo }]) => todo);
}

/** Performs what each reason tells an operator to do, while a worker runs: each act twice, and all of them once more. */
export async function performTodos(engine: EngineName, face: Face): Promise<void> {
  const merchant = await newMerchant(engine);
  const record = ({ tx, signed }: Parameters<ReturnType<typeof creditIn>>[0]) =>
    merchant.credit(tx, signed.merchant_reference, signed.transaction_status);
  const options = { retry: { attempts: 1, firstDelayMs: 60_000, longestDelayMs: 60_000 } };
  const faulty = merchant.open(options);
  faulty.handle('paid', async (transition) => {
    const { merchant_reference } = transition.signed;
    await creditIn(merchant)(transition);
    if (merchant_reference.startsWith('attempts_used_up')) throw new Error('The ledger is full.');
    if (merchant_reference.startsWith('transaction_ended')) await transition.tx.query('rollback');
  });
  faulty.handle('failed', record);
  const { query, table } = merchant;
  const given = TODOS.map((todo, index) => ({ ...todo, reference: `${todo.reason}-${index}` }));
  await Promise.all(
    given.map(async ({ reference, expected = [], isCanceled }) => {
      for (const changes of expected) await faulty.expect({ ...money(reference), ...changes }, REPLACE);
      if (isCanceled) await actOn(faulty, reference, 'cancel');
    }),
  );
  const crashing = `select id from ${table('callback')} where signed like '%crash_loop%'`;
  // What a callback follows is applied before it arrives.
  for (const round of [0, 1]) {
    const arriving = given.flatMap(({ reference, arrive }) => arrive(reference)[round] ?? []);
    await Promise.all(
      arriving.map((each) =>
        each.ok ? faulty.route.onCallback(each) : faulty.route.onAuthenticRefusal(each),
      ),
    );
    await query(`update ${table('transition')} set unfinished = 3 where id in (${crashing})`);
    await workOff(faulty);
  }
  const held = await faulty.reports({ limit: 100 });
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

  const known = { ...STATUSES, Completed: 'interim', RETURNED: 'reversed' } as const;
  const inbox = merchant.open({ ...options, statuses: known });
  inbox.handle('paid', creditIn(merchant));
  for (const name of ['failed', 'reversed', 'status'] as const) inbox.handle(name, record);
  const hands = handsOf(face, inbox, merchant);
  const stop = startWork(inbox);
  const decide: (id: string, act: (seen: TransitionDetails) => Promise<unknown>) => Promise<void> = async (
    id,
    act,
  ) => {
    const seen = await inbox.report(id);
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
      const operator = {
        ...hands,
        reference,
        decide: (how: Parameters<typeof decide>[1]) => decide(id, how),
      };
      return Array.from({ length: times }, () => act?.(operator));
    });
    await Promise.allSettled(acts);
    await until(async () => {
      const states = await statesOf(inbox);
      return states.pending + states.retrying === 0;
    });
  }
  await stop();
  const credits = await merchant.credits();
  for (const { reference, credits: wanted } of todos)
    expect(credits.filter((each) => each.startsWith(`${reference} `)).toSorted(), reference).toEqual(
      wanted.map((each) => `${reference} ${each}`),
    );
}
