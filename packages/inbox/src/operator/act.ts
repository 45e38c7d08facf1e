import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError, InvalidStateError, StaleError } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
  refuseArgument,
} from '@payment-service/core/internal';
import { DATE, STRING, wholeNumber } from '../option-rules.ts';
import type { TransitionReason } from '../states.ts';
import { dateOf, numberOf } from '../store/store.ts';
import type { ExpectedMoney } from '../work/verdict/evaluate.ts';
import { COMPARISON, checkExpectation, keepExpectation } from '../work/verdict/expectation.ts';
import { keysOf, restate } from '../work/verdict/payment.ts';
import { signedIn } from '../work/verdict/stored.ts';
import { ACT_NAMES, type ActionNote, addPaymentAction, NOTE_RULES } from './action-log.ts';
import { forget } from './forget.ts';
import { type Act, OPERATIONS } from './operations.ts';
import { readPayment } from './payment.ts';
import { readPage } from './payments.ts';
import { type MovedState, move } from './report-acts.ts';
import type { OperatorContext } from './views.ts';

/** What an operator says with an act; all but `by` and `note` only with `expect`. */
export interface ActGiven extends ActionNote, Partial<ExpectedMoney> {
  /** From then on it is overdue. @default the deadline that it has */
  readonly deadline?: Date | undefined;
}

const GIVEN: OptionRules<ActGiven> = {
  ...NOTE_RULES,
  currency: undefined,
  amount: undefined,
  compare: COMPARISON,
  deadline: DATE,
};
const ACT: OptionRule = [
  (act) => {
    const { name, revision, merchant_reference, transaction_type } = Object(act);
    const texts = [revision, merchant_reference, transaction_type];
    return ACT_NAMES.some((each) => each === name) && texts.every((text) => typeof text === 'string');
  },
  'one of the acts that payment() returned',
];
const STALE =
  'This payment has changed since it was read: another operator or a worker acted on it, another report arrived, or another amount ' +
  'is expected. Nothing was done. Read it again, then decide.';

/** Which payments `actAll()` moves. */
export interface ActSelection {
  /** Why a person must look at them, as `payments()` says. */
  readonly reason: TransitionReason;
  /** When you looked: what has changed since then is not moved. */
  readonly until: Date;
  /** At most 1000. @default 1000 */
  readonly limit?: number | undefined;
}

const SELECTION: OptionRules<ActSelection> = {
  reason: [STRING[0], STRING[1], true],
  until: [DATE[0], 'the moment at which you looked, a Date', true],
  limit: wholeNumber(1000),
};

/** What became of a bulk act. */
export interface ActedOnAll {
  readonly done: number;
  /** How many were skipped, since they have changed. */
  readonly skipped: number;
}

/** Retries or closes, one after another, the reports that keep payments waiting for this reason. */
export async function actOnAll<Tx>(
  context: OperatorContext<Tx>,
  name: 'retry' | 'close',
  selection: ActSelection,
  given: ActionNote,
): Promise<ActedOnAll> {
  if (name !== 'retry' && name !== 'close') refuseArgument('actAll()', 'name', "'retry' or 'close'", name);
  checkOptions('actAll()', selection, SELECTION);
  checkOptions('actAll()', given ?? {}, NOTE_RULES);
  const { reason, until, limit = 1000 } = selection;
  const { items } = await readPage(context, { reason, until, limit });
  const counts = { done: 0, skipped: 0 };
  for (const { merchant_reference, transaction_type } of items) {
    const payment = await readPayment(context, { merchant_reference, transaction_type });
    const held = payment?.reports.filter((report) => report.reason === reason) ?? [];
    const acts = payment?.acts.filter(
      (act) => act.name === name && held.some(({ transitionId }) => transitionId === act.report),
    );
    for (const act of acts ?? []) {
      const isDone = await actOnPayment(context, act, given, until).then(
        () => true,
        (error: unknown) => {
          if (error instanceof StaleError || error instanceof InvalidStateError) return false;
          throw error;
        },
      );
      counts[isDone ? 'done' : 'skipped'] += 1;
    }
  }
  return counts;
}

/**
 * Performs an act on a payment, unless the payment has changed since it was read.
 *
 * @throws {StaleError} If it has.
 */
export async function actOnPayment<Tx>(
  context: OperatorContext<Tx>,
  act: Act,
  given: ActGiven,
  until?: Date,
): Promise<void> {
  checkArgument('act()', 'act', act, ACT);
  checkOptions('act()', given ?? {}, GIVEN);
  if (act.name === 'forget') {
    await forget(context, act.merchant_reference, { by: given.by, note: given.note });
    return;
  }
  const { store, settings } = context;
  const moved = await store.transaction((tx) => perform(context, act, given, { tx, until }));
  if (moved !== undefined)
    settings.emit({ name: 'transition.moved', transitionId: act.report ?? '', state: moved });
}

async function perform<Tx>(
  context: OperatorContext<Tx>,
  act: Act,
  { by, note, ...money }: ActGiven,
  { tx, until }: { readonly tx: Tx; readonly until: Date | undefined },
): Promise<MovedState | undefined> {
  const { statements, settings } = context;
  const { account } = settings;
  const { name, report, merchant_reference, transaction_type } = act;
  const key = { merchant_reference, transaction_type };
  // Until this transaction ends, no worker settles it, no other operator acts on it, and what is expected stays.
  await statements.run('lock_reports', keysOf(key, account), tx);
  const payment = await readPayment(context, key, tx);
  if (payment === undefined)
    throw new ConfigurationError('act', 'Nothing is known of this payment. See payments().');
  if (payment.revision !== act.revision) throw new StaleError(STALE);
  const isOffered = payment.acts.some((each) => isDeepStrictEqual(each, act));
  if (!isOffered)
    throw new InvalidStateError(
      `${OPERATIONS[name].label} is not possible for this payment now. ${payment.advice.sentence}`,
    );
  if (name === 'cancel') {
    await statements.run('cancel', keysOf(key, account), tx);
    await addPaymentAction(statements, { ...key, account, action: name, by, note }, tx);
    await restate(statements, { ...key, account }, tx);
    return undefined;
  }
  if (name === 'expect') {
    const { currency = '', amount = '', compare, deadline } = money;
    const expectation = checkExpectation(
      { ...key, currency, amount, compare, deadline },
      { account, colonIn: 'merchant_reference' },
    );
    await keepExpectation(statements, { expectation, replace: { by, note } }, tx);
    await addPaymentAction(statements, { ...key, account, action: name, by, note }, tx);
    return undefined;
  }
  const [locked] = await statements.run('lock_named_transition', [report ?? '', account], tx);
  const isLater = until !== undefined && locked !== undefined && dateOf(locked, 'last_at') >= until;
  if (locked === undefined || name === 'forget' || isLater) throw new StaleError(STALE);
  const where = { transitionId: report ?? '', id: numberOf(locked, 'id'), signed: signedIn(locked) };
  return move(context, { ...act, ...where, action: name, by, note }, tx);
}
