import { count, counted, groupedDigits } from '@payment-service/pages/text';
import type { HowRead } from './read-statement.ts';
import {
  LINE_CLASSES,
  type LineClass,
  STATEMENT_VERDICTS,
  type StatementFinding,
  type StatementReport,
  type StatementSum,
} from './statement.ts';

/** What the command and the console say about a statement, in the same words. */

const CLASS_WORDS: Readonly<Record<LineClass, (lines: number) => string>> = {
  payment: (lines) => counted(lines, 'payment'),
  money_out: (lines) => `${count(lines)} for money out`,
  not_a_payment: (lines) => `${count(lines)} that ${lines === 1 ? 'is' : 'are'} no payment`,
  not_understood: (lines) => `${count(lines)} not understood`,
};
const SUM_WORDS = { in: 'in', out: 'out', not_understood: 'not understood' } as const;

const moneyOf = (sums: readonly StatementSum[]): string =>
  sums.map(({ currency, amount }) => `${currency} ${groupedDigits(amount)}`).join(' and ');

/** What was found, what it means, and what to do: one sentence a line. */
export function sentencesOf(report: StatementReport): string[] {
  const { lines, sums, words, applied, dryRun, isClean, counts } = report;
  const all = LINE_CLASSES.reduce((sum, name) => sum + lines[name], 0);
  const classes = LINE_CLASSES.filter((name) => name === 'payment' || lines[name] > 0)
    .map((name) => CLASS_WORDS[name](lines[name]))
    .join(', ');
  const money = Object.entries(SUM_WORDS).flatMap(([name, word]) => {
    const own = sums[name as keyof typeof SUM_WORDS];
    return own.length === 0 ? [] : [`${moneyOf(own)} ${word}`];
  });
  const unknown = Object.entries(words).map(([word, lines]) => `${word} (${count(lines)})`);
  const waiting = counts.paid_without_callback - (dryRun ? 0 : applied);
  const settled = applied === 0 ? 'Nothing' : `${counted(applied, 'payment')} (${moneyOf(sums.applied)})`;
  return [
    `${counted(all, 'line')}: ${classes}.`,
    ...(money.length === 0 ? [] : [`The file has ${money.join(', ')}.`]),
    `${settled} ${dryRun ? 'would be settled' : `${applied > 1 ? 'were' : 'was'} settled`} by this file.`,
    ...(!dryRun && waiting > 0
      ? [`${counted(waiting, 'payment')} that it could settle ${waiting === 1 ? 'was' : 'were'} left.`]
      : []),
    ...(unknown.length === 0
      ? []
      : [
          `Words that have no known meaning: ${unknown.join(', ')}. Say whether each is paid, failed, reversed or interim.`,
        ]),
    ...(lines.payment > 0
      ? []
      : [
          sums.out.length > 0
            ? 'No line is a payment, and money only went out: are the columns of money in and out exchanged?'
            : 'No line is a payment: does the file have another form than was stated?',
        ]),
    ...(isClean ? ['Every line was understood, and everything agrees.'] : []),
  ];
}

/** How the file was read. */
export function readingOf({ encoding, separator, headerAt }: HowRead): string {
  const names = headerAt === 0 ? 'no names' : `their names in line ${headerAt}`;
  return `Read as ${encoding}, with a ${separator} between columns and ${names}.`;
}

/** The columns of a table of findings, and the cells of each. */
export const FINDING_COLUMNS: readonly string[] = [
  ...['line', 'is', 'verdict', 'merchant_reference', 'internal_reference'],
  ...['direction', 'currency', 'amount', 'detail'],
];

export const findingCells = (finding: StatementFinding): string[] =>
  FINDING_COLUMNS.map((name) => {
    const value =
      name === 'is' ? STATEMENT_VERDICTS[finding.verdict].is : finding[name as keyof StatementFinding];
    return String(value ?? '');
  });

/** Findings that a person looks at. */
export const needsLook = ({ verdict }: StatementFinding): boolean => !STATEMENT_VERDICTS[verdict].isClean;

/** The verdicts that occur, each with its count. */
export const occurring = ({ counts }: StatementReport): [verdict: keyof typeof counts, count: number][] =>
  (Object.keys(STATEMENT_VERDICTS) as (keyof typeof counts)[]).flatMap((verdict) =>
    counts[verdict] > 0 ? [[verdict, counts[verdict]] as [keyof typeof counts, number]] : [],
  );
