import type { OptionRule, OptionRules } from '@payment-service/core/internal';
import type { Statements } from '../store/statements.ts';
import { choiceOf, dateOf, type Row, textOf } from '../store/store.ts';
import { keysOf, type PaymentKey } from '../work/verdict/payment.ts';

/** What an operator can do with a payment, in the order in which it is offered. */
export const ACT_NAMES = [
  'accept',
  'apply',
  'applyAgain',
  'retry',
  'close',
  'expect',
  'cancel',
  'forget',
] as const;
export type ActName = (typeof ACT_NAMES)[number];

/** Who acts, and why. Kept with the transition. The inbox does not check who calls it: the application must. */
export interface ActionNote {
  /** Who: a name or an id of your users, at most 200 characters. */
  readonly by: string;
  /** Why, at most 1000 characters. */
  readonly note: string;
}

/** What an operator did with a transition. */
export interface OperatorAction {
  /** `statement`: `reconcileStatement()` kept a row instead of the callback. */
  readonly action: ActName | 'statement';
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
    action: choiceOf(row, 'action', [...ACT_NAMES, 'statement'] as const),
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
