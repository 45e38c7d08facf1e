import type { ActionNote } from '../../action-note.ts';
import type { Statements } from '../../store/statements.ts';
import { choiceOf, dateOf, type Row, textOf } from '../../store/store.ts';

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

/**
 * Keeps who acted, and why.
 *
 * @param of The id of a report, or the keys of a payment for an act that is about none of its reports.
 */
export async function addAction<Tx>(
  statements: Statements<Tx>,
  { action, by, note }: ActionNote & Pick<OperatorAction, 'action'>,
  of: number | readonly [key: string, type: string],
  tx: Tx,
): Promise<void> {
  const name = typeof of === 'number' ? 'add_action' : 'add_payment_action';
  await statements.run(name, [of, action, by.toWellFormed(), note.toWellFormed()].flat(), tx);
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
