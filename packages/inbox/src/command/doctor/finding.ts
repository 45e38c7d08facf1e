import { ConfigurationError } from '@payment-service/core';
import { printable } from '@payment-service/core/internal';
import { adviceOn } from '../../reporting/database-advice.ts';
import { messageOf } from '../failure.ts';

/** The finding of a check. */
export interface Finding {
  readonly check: string;
  /** A problem needs an operator. With a notice, payments are still kept and applied. */
  readonly level: 'problem' | 'notice';
  readonly seen: string;
  readonly why: string;
  readonly todo: string;
}

type Tag = (parts: TemplateStringsArray, ...values: readonly (string | number)[]) => Finding;

/** Three lines: the check and what it observed, why that matters, what to do. */
const tag =
  (level: Finding['level']): Tag =>
  (parts, ...values) => {
    const text = String.raw(parts, ...values.map((value) => printable(String(value))));
    const [first = '', why = '', todo = ''] = text.split('\n').map((line) => line.trim());
    const [check = ''] = first.split(': ', 1);
    return { check, level, seen: first.slice(check.length + 2), why, todo };
  };
export const problem: Tag = tag('problem');
export const notice: Tag = tag('notice');

/** The database failed at what a callback needs. */
export function failure(check: string, error: unknown): Finding {
  const advice = adviceOn(error) ?? 'Fix what the message says, and run doctor again.';
  const seen = messageOf(error);
  const todo = error instanceof ConfigurationError ? 'Do what the message says.' : advice;
  return problem`${check}: ${seen}
    No callback can be stored here: callbacks wait in the spool, or are answered with 429, and none is applied.
    ${todo}`;
}

export function uncheckable(check: string, error: unknown): Finding {
  return notice`${check}: This could not be checked: ${messageOf(error)}
    The problem that it looks for could exist without a finding.
    Run doctor with a role that may read it, or check it by hand.`;
}
