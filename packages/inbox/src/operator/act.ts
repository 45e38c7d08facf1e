import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError, InvalidStateError, StaleError } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
} from '@payment-service/core/internal';
import { numberOf } from '../store/store.ts';
import type { ExpectedMoney } from '../work/verdict/evaluate.ts';
import { COMPARISON, checkExpectation, keepExpectation } from '../work/verdict/expectation.ts';
import { keysOf, lockPayment, restate } from '../work/verdict/payment.ts';
import { signedIn } from '../work/verdict/stored.ts';
import { type ActionNote, addPaymentAction, NOTE_RULES } from './action-log.ts';
import { type MovedState, move, type ReportAct, STALE } from './actions.ts';
import { forget } from './forget.ts';
import { ACT_NAMES, type Act, type ActName, OPERATIONS } from './operations.ts';
import { readPayment } from './payment.ts';
import type { OperatorContext } from './views.ts';

/** What an operator says with an act; `currency`, `amount` and `compare` only with `expect`. */
export interface ActGiven extends ActionNote, Partial<ExpectedMoney> {}

const GIVEN: OptionRules<ActGiven> = {
  ...NOTE_RULES,
  currency: undefined,
  amount: undefined,
  compare: COMPARISON,
};
const ACT: OptionRule = [
  (act) => ACT_NAMES.some((name) => name === Object(act).name) && typeof Object(act).revision === 'string',
  'one of the acts that payment() returned',
];
/** The acts on a report, by their names in the log. */
const ON_REPORT: Readonly<Partial<Record<ActName, ReportAct>>> = {
  ...{ accept: 'accept', apply: 'reopen', applyAgain: 'applyAgain', retry: 'retry', close: 'resolve' },
};

/**
 * Performs an act on a payment, unless the payment has changed since it was read.
 *
 * @throws {StaleError} If it has.
 */
export async function actOnPayment<Tx>(
  context: OperatorContext<Tx>,
  act: Act,
  given: ActGiven,
): Promise<void> {
  checkArgument('act()', 'act', act, ACT);
  checkOptions('act()', given ?? {}, GIVEN);
  if (act.name === 'forget') {
    await forget(context, act.merchant_reference, { by: given.by, note: given.note });
    return;
  }
  const { store, settings } = context;
  const moved = await store.transaction((tx) => perform(context, act, given, tx));
  if (moved !== undefined)
    settings.emit({ name: 'transition.moved', transitionId: act.report ?? '', state: moved });
}

async function perform<Tx>(
  context: OperatorContext<Tx>,
  act: Act,
  { by, note, ...money }: ActGiven,
  tx: Tx,
): Promise<MovedState | undefined> {
  const { statements, settings } = context;
  const { account } = settings;
  const { name, report, merchant_reference, transaction_type } = act;
  const key = { merchant_reference, transaction_type };
  // Until this transaction ends, no worker settles it, no other operator acts on it, and what is expected stays. The payment first,
  // also if it has no row yet, as workers and expect() do: in another order, two transactions could wait for each other.
  await lockPayment(statements, { ...key, account }, tx);
  await statements.run('lock_reports', keysOf(key, account), tx);
  const payment = await readPayment(context, key, tx);
  if (payment === undefined)
    throw new ConfigurationError('act', 'Nothing is known of this payment. See payments().');
  if (payment.revision !== act.revision) throw new StaleError(STALE);
  const isOffered = payment.acts.some((each) => isDeepStrictEqual(each, act));
  if (!isOffered)
    throw new InvalidStateError(`${OPERATIONS[name].label} is not possible for this payment now.`);
  if (name === 'cancel') {
    await statements.run('cancel', keysOf(key, account), tx);
    await addPaymentAction(statements, { ...key, account, action: name, by, note }, tx);
    await restate(statements, { ...key, account }, tx);
    return undefined;
  }
  if (name === 'expect') {
    const { currency = '', amount = '', compare } = money;
    const expectation = checkExpectation(
      { ...key, currency, amount, compare },
      { account, colonIn: 'merchant_reference' },
    );
    await keepExpectation(statements, { expectation, replace: { by, note } }, tx);
    await addPaymentAction(statements, { ...key, account, action: name, by, note }, tx);
    return undefined;
  }
  const [locked] = await statements.run('lock_named_transition', [report ?? '', account], tx);
  const action = act.isText ? 'acceptText' : ON_REPORT[name];
  if (locked === undefined || action === undefined) throw new StaleError(STALE);
  const { body, compare } = act;
  const decision = {
    by,
    note,
    action,
    transitionId: report ?? '',
    id: numberOf(locked, 'id'),
    signed: signedIn(locked),
  };
  return move(context, { ...decision, ...(body !== undefined && { body, compare }) }, tx);
}
