import type { OptionRule, OptionRules } from '@payment-service/core/internal';
import type { Statements } from '../store/statements.ts';
import { choiceOf, dateOf, type Row, textOf } from '../store/store.ts';
import { keysOf, type PaymentKey } from '../work/verdict/payment.ts';

/** Who acts, and why. Kept with the transition. The inbox does not check who calls it: the application must. */
export interface ActionNote {
  /** Who: a name or an id of your users, at most 200 characters. */
  readonly by: string;
  /** Why, at most 1000 characters. */
  readonly note: string;
}

/** An act of an operator. */
export type LoggedAct =
  | ('retry' | 'resolve' | 'accept' | 'acceptText' | 'reopen' | 'applyAgain')
  | ('cancel' | 'expect');
const ACTS: readonly LoggedAct[] = [
  ...(['retry', 'resolve', 'accept', 'acceptText', 'reopen', 'applyAgain'] as const),
  ...(['cancel', 'expect'] as const),
];

/** What an operator did with a transition. */
export interface OperatorAction {
  /** `statement`: `reconcileStatement()` kept a row instead of the callback. */
  readonly action: LoggedAct | 'statement' | 'forget';
  /** Who acted, as stated by the application. */
  readonly by: string;
  readonly note: string;
  readonly at: Date;
}

export const NOTE_RULES: OptionRules<ActionNote> = {
  by: textOfPerson('who acts', 200),
  note: textOfPerson('why', 1000),
};

/** Keeps who acted, and why. */
export async function addAction<Tx>(
  statements: Statements<Tx>,
  { id, action, by, note }: ActionNote & { readonly id: number; readonly action: OperatorAction['action'] },
  tx: Tx,
): Promise<void> {
  await statements.run('add_action', [id, action, by.toWellFormed(), note.toWellFormed()], tx);
}

/** The same for an act on a payment that is about none of its reports. */
export async function addPaymentAction<Tx>(
  statements: Statements<Tx>,
  {
    action,
    by,
    note,
    account,
    ...payment
  }: ActionNote & PaymentKey & { readonly account: string; readonly action: OperatorAction['action'] },
  tx: Tx,
): Promise<void> {
  const values = [...keysOf(payment, account), action, by.toWellFormed(), note.toWellFormed()];
  await statements.run('add_payment_action', values, tx);
}

/** Of a row of show_actions. */
export function actionIn(row: Row): OperatorAction {
  return {
    action: choiceOf(row, 'action', [...ACTS, 'statement', 'forget'] as const),
    by: textOf(row, 'by_whom'),
    note: textOf(row, 'note'),
    at: dateOf(row, 'at'),
  };
}

function textOfPerson(what: string, max: number): OptionRule {
  const isValid = (value: unknown): boolean =>
    typeof value === 'string' && value.trim() !== '' && value.length <= max && !value.includes('\0');
  return [isValid, `1 to ${max} characters that say ${what}`, true];
}
