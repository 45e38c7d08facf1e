import { printable } from '@payment-service/core/internal';

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

/** For a hook or a log. */
export const sentencesOf = ({ seen, why, todo }: Finding): string => `${seen} ${why} ${todo}`;
