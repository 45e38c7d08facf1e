import { wordsOf } from '../../words.ts';
import type { OperatorAction } from '../acts/action-log.ts';
import { textOf } from '../acts/operations.ts';
import type { Payment } from './read-payment.ts';

/** One thing that happened to a payment, or will. */
export interface StoryStep {
  readonly at: Date;
  readonly kind: 'reported' | 'credited' | 'held' | 'acted' | 'waiting';
  readonly text: string;
  /** Why, or which report. */
  readonly detail: string | undefined;
}

/** What an operator did, before "by" and a name. */
const DONE: Readonly<Record<OperatorAction['action'], string>> = {
  retry: 'Retried',
  close: 'Report closed',
  accept: 'Accepted',
  apply: 'Applied after all',
  applyAgain: 'Applied again',
  cancel: 'Canceled',
  expect: 'Expectation stated',
  statement: 'Found in a statement',
  forget: 'Personal data removed',
};

/** Everything that is kept of what happened to a payment, the oldest first. No personal data but the notes of operators. */
export function storyOf({ reports, actions, replaced, settled, expected, state }: Payment): StoryStep[] {
  const steps: StoryStep[] = [];
  const add = (at: Date, kind: StoryStep['kind'], text: string, detail?: string): void => {
    steps.push({ at, kind, text, detail });
  };
  for (const report of reports) {
    const { signed, firstAt, changedAt, nextAt, isArchived } = report;
    const which = `${signed.transaction_status} of ${signed.internal_reference || 'no transaction'}`;
    if (!isArchived) add(firstAt, 'reported', `${signed.transaction_status} was reported`, which);
    // That an operator closed it is an act below.
    const isTold = ['pending', 'retrying', 'resolved'].includes(report.state);
    const isCredit = report.transitionId === settled?.report;
    const isHeld = ['quarantined', 'conflict', 'dead', 'unhandled'].includes(report.state);
    if (isCredit && settled !== undefined)
      add(settled.at, 'credited', `${textOf(settled)} was credited`, which);
    if (!isTold && !(isCredit && report.state === 'settled'))
      add(changedAt, isHeld ? 'held' : 'reported', wordsOf(report).heading, which);
    if (report.state === 'retrying') add(changedAt, 'held', wordsOf(report).heading, report.lastError);
    if (report.state === 'settled' && report.lastError !== undefined)
      add(
        changedAt,
        'held',
        report.lastError,
        'Is the order paid? Probably a query was not awaited, or matched no row.',
      );
    if (nextAt !== undefined) add(nextAt, 'waiting', 'A worker will check it again', which);
  }
  for (const { action, by, note, at } of actions) add(at, 'acted', `${DONE[action]} by ${by}`, note);
  for (const { by, note, at, ...money } of replaced) {
    const isTold = actions.some((action) => action.by === by && action.note === note);
    add(at, 'acted', `${textOf(money)} is no longer expected`, isTold ? undefined : `${by}: ${note}`);
  }
  if (state === 'overdue' && expected?.deadline)
    add(expected.deadline, 'waiting', `${textOf(expected)} was due`);
  return steps.toSorted((one, other) => one.at.getTime() - other.at.getTime());
}
