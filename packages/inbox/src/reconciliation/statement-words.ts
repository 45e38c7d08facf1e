import { count, counted, groupedDigits } from '@payment-service/pages/text';
import type { StatementVerdict } from '../states.ts';
import type { HowRead } from './reading/read-statement.ts';
import {
  LINE_CLASSES,
  type LineClass,
  STATEMENT_MEANINGS,
  STATEMENT_VERDICTS,
  type StatementFinding,
  type StatementReport,
  type StatementSum,
  VERDICTS,
  WORD_FIELDS,
  type WordField,
} from './statement-report.ts';

/** What the command and the console say about a statement, in the same words. */

const CLASS_WORDS: Readonly<Record<LineClass, (lines: number) => string>> = {
  payment: (lines) => counted(lines, 'payment'),
  money_out: (lines) => `${count(lines)} for money out`,
  not_a_payment: (lines) => `${count(lines)} that ${lines === 1 ? 'is' : 'are'} no payment`,
  not_understood: (lines) => `${count(lines)} not understood`,
};
const SUM_WORDS = { in: 'in', out: 'out', not_understood: 'not understood' } as const;

/** What the words of a field are, and what each can mean. */
const WORDS_OF: Readonly<Record<WordField, readonly [what: string, meanings: readonly string[]]>> = {
  transaction_status: ['Statuses', STATEMENT_MEANINGS],
  direction: ['Words for the direction', ['in', 'out']],
};
const oneOf = new Intl.ListFormat('en-GB', { type: 'disjunction' });

const moneyOf = (sums: readonly StatementSum[]): string =>
  sums.map(({ currency, amount }) => `${currency} ${groupedDigits(amount)}`).join(' and ');

/**
 * What was found, what it means, and what to do: one sentence a line.
 *
 * @param places How a reader of the sentences states the words of each field: "with --in or --out", "below".
 */
export function sentencesOf(report: StatementReport, places: Readonly<Record<WordField, string>>): string[] {
  const { lines, sums, words, applied, dryRun, isClean, counts } = report;
  const all = LINE_CLASSES.reduce((sum, name) => sum + lines[name], 0);
  const classes = LINE_CLASSES.filter((name) => name === 'payment' || lines[name] > 0)
    .map((name) => CLASS_WORDS[name](lines[name]))
    .join(', ');
  const money = Object.entries(SUM_WORDS).flatMap(([name, word]) => {
    const own = sums[name as keyof typeof SUM_WORDS];
    return own.length === 0 ? [] : [`${moneyOf(own)} ${word}`];
  });
  const waiting = counts.paid_without_callback - (dryRun ? 0 : applied);
  const settled = applied === 0 ? 'Nothing' : `${counted(applied, 'payment')} (${moneyOf(sums.applied)})`;
  const be = (number: number): string => (number === 1 ? 'was' : 'were');
  const said: readonly (readonly [isSaid: boolean, sentence: string])[] = [
    [true, `${counted(all, 'line')}: ${classes}.`],
    [money.length > 0, `The file has ${money.join(', ')}.`],
    [true, `${settled} ${dryRun ? 'would be' : be(applied || 1)} settled by this file.`],
    [!dryRun && waiting > 0, `${counted(waiting, 'payment')} that it could settle ${be(waiting)} left.`],
    ...WORD_FIELDS.map((field) => {
      const unknown = Object.entries(words[field]).map(([word, lines]) => `${word} (${count(lines)})`);
      const [what, meanings] = WORDS_OF[field];
      const asked = `Say ${places[field]} whether each is ${oneOf.format(meanings)}.`;
      const sentence = `${what} that have no known meaning: ${unknown.join(', ')}. ${asked}`;
      return [unknown.length > 0, sentence] as const;
    }),
    [
      lines.payment === 0,
      sums.out.length > 0
        ? 'No line is a payment, and money only went out: are the columns for money in and money out swapped?'
        : 'No line is a payment: does the file have a different format from the one stated?',
    ],
    [isClean, 'Every line was understood, and everything agrees.'],
  ];
  return said.filter(([isSaid]) => isSaid).map(([, sentence]) => sentence);
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
export const occurring = ({ counts }: StatementReport): [StatementVerdict, number][] =>
  VERDICTS.filter((verdict) => counts[verdict] > 0).map((verdict) => [verdict, counts[verdict]]);
