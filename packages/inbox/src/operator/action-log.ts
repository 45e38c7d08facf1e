import type { ActionNote } from '../action-note.ts';
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

/** What an operator did with a transition. */
export interface OperatorAction {
  /** `statement`: `reconcileStatement()` kept a row instead of the callback. */
  readonly action: ActName | 'statement';
  /** Who acted, as stated by the application. */
  readonly by: string;
  readonly note: string;
  readonly at: Date;
}

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
