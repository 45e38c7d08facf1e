import type { ActionNote } from '../action-note.ts';
import { STATUS_MEANINGS, type StatementVerdict, type StatusMeaning } from '../states.ts';
import type { Period } from './balance-report.ts';

/**
 * A payment in a statement, with the names of the protocol. The format of the service's statements is not shown, so the program
 * that reads one states which column is which.
 */
export interface StatementRow {
  readonly merchant_reference: string;
  /** Without it, a payment whose callback is missing cannot be settled: a later callback would be a different transition. */
  readonly internal_reference?: string | undefined;
  readonly transaction_type: string;
  /** `COMPLETED` is paid (protocol §3). */
  readonly transaction_status: string;
  readonly currency: string;
  /**
   * Digits with at most one point: `1999.90`. No sign, exponent or grouping: other notations are refused, not guessed, and so is
   * `1.000`, which is ambiguous. `readStatement()` reads other notations.
   */
  readonly amount: string;
  /** Which way the money went. `out` beside an `in` of the same payment takes it back. @default 'in' */
  readonly direction?: 'in' | 'out' | undefined;
  /**
   * What its status means. @default `paid` for COMPLETED; what the inbox's option `statuses` says; and for FAILED, REVERSED and
   * PENDING what they say. Another status is not understood.
   */
  readonly meaning?: StatementMeaning | undefined;
  /** @default the only event of `completedEvents` */
  readonly event?: string | undefined;
  /** The account in the statement, for the option `account`. */
  readonly account?: string | undefined;
}

/** A line of a statement. */
export interface StatementLine {
  /** Its number in the file, from 1. */
  readonly line: number;
  /** How many lines of the file it takes, if a cell contains line breaks. @default 1 */
  readonly lines?: number | undefined;
  /** What it says, as far as it could be read. */
  readonly row: Partial<StatementRow>;
  /** What it is, if it is not a payment, or could not be understood. @default a payment */
  readonly verdict?: StatementVerdict | undefined;
  readonly detail?: string | undefined;
  /** Its word for the direction, if that is not known. */
  readonly word?: string | undefined;
}

/** What a status means in a statement. */
export type StatementMeaning = 'paid' | StatusMeaning;
export const STATEMENT_MEANINGS: readonly StatementMeaning[] = ['paid', ...STATUS_MEANINGS];

/** Options of `reconcileStatement()`. */
export interface StatementOptions extends ActionNote, Period {
  /** The required `account` of every row, if the statement names an account. */
  readonly account?: string | undefined;
  /**
   * The signed type that the statement lists, if it lists only one: settlements of others do not count as absent. @default
   * every type
   */
  readonly transaction_type?: string | undefined;
  /** With `false`, a payment in the statement whose callback is missing here is settled by its row. @default true */
  readonly dryRun?: boolean | undefined;
  /** With `dryRun: false`, settles only these: the `transitionId`s of findings. @default all */
  readonly only?: readonly string[] | undefined;
  /** Called for every line in the order of the file when all are judged, then for every settlement without one. */
  readonly onFinding?: ((finding: StatementFinding) => unknown) | undefined;
}

export const LINE_CLASSES = ['payment', 'money_out', 'not_a_payment', 'not_understood'] as const;
/** What a line of a statement is. */
export type LineClass = (typeof LINE_CLASSES)[number];

interface VerdictWords {
  /** What the line is; undefined for what has no line. */
  readonly is: LineClass | undefined;
  /** Nothing is left for a person. */
  readonly isClean: boolean;
  /** For an operator. */
  readonly meaning: string;
}

const clean = (is: LineClass, meaning: string): VerdictWords => ({ is, isClean: true, meaning });
const left = (is: LineClass | undefined, meaning: string): VerdictWords => ({ is, isClean: false, meaning });
const misread = (meaning: string): VerdictWords => left('not_understood', meaning);

/** Every verdict: what the line is, and what the verdict means. */
export const STATEMENT_VERDICTS: Readonly<Record<StatementVerdict, VerdictWords>> = {
  settled: clean('payment', 'Settled here, and paid in the statement, with the same money.'),
  not_paid: clean('payment', 'Neither settled here nor paid in the statement.'),
  paid_without_callback: left('payment', 'Paid in the statement and expected here; no callback arrived.'),
  waiting_here: left('payment', 'Paid in the statement; its callback arrived and was not applied.'),
  absent_from_statement: left(
    undefined,
    'Settled here in the period, but missing from the statement: the money may not exist.',
  ),
  other_amount: left('payment', 'The statement has a different amount from the expected one.'),
  other_currency: left('payment', 'The statement has a different currency from the expected one.'),
  other_status: left('payment', 'Settled here, but not paid in the statement.'),
  other_account: left('payment', 'The line belongs to another account.'),
  paid_by_another: left('payment', 'Paid in the statement, but settled here by another transaction.'),
  not_expected: left('payment', 'Paid in the statement, but no expectation is known here.'),
  duplicate: left('payment', 'The statement has more than one paid line for this reference.'),
  contradicted: left('payment', 'The statement contradicts itself about this payment. It settles nothing.'),
  damaged_id: left(
    'payment',
    'A spreadsheet probably changed its internal_reference. Export it again, with ids as text. It settles nothing.',
  ),
  unclear: left(
    'payment',
    'Another line with its reference or its id was not understood. It settles nothing.',
  ),
  money_out: clean('money_out', 'Money that went out.'),
  heading: clean('not_a_payment', 'The column names, or a line above them.'),
  blank: clean('not_a_payment', 'An empty line.'),
  total: clean('not_a_payment', 'A total or a balance.'),
  charge: clean('not_a_payment', 'A fee or interest.'),
  text: clean('not_a_payment', 'Text without an amount.'),
  no_reference: misread('Money came in without a reference.'),
  unknown_status: misread('Its status has no known meaning. Say what it means.'),
  unknown_direction: misread('It does not say clearly whether the money came in or went out.'),
  ambiguous_amount: misread(
    'Its amount is ambiguous: 1.000 is a thousand in one notation and one in another. Say which mark is in front of decimals.',
  ),
  wrong_length: misread('It has more or fewer cells than there are columns.'),
  malformed: misread('A field is missing or malformed.'),
};

/** In the order in which they are listed. */
export const VERDICTS: readonly StatementVerdict[] = Object.keys(STATEMENT_VERDICTS) as StatementVerdict[];

/** A line and its verdict. */
export interface StatementFinding {
  /** The number of the line, from 1; undefined for what is absent from the statement. */
  readonly line: number | undefined;
  readonly verdict: StatementVerdict;
  readonly merchant_reference: string;
  readonly internal_reference: string | undefined;
  /** The id of the transition that settled it here, or that the line would create. */
  readonly transitionId: string | undefined;
  /** Which way the money went, as far as it could be read. */
  readonly direction: 'in' | 'out' | undefined;
  /** Of the line, as far as it could be read; for what is absent from the statement, what was settled here. */
  readonly currency: string | undefined;
  readonly amount: string | undefined;
  /** What is wrong with a line, or why a payment cannot be settled by it. */
  readonly detail: string | undefined;
}

/** A sum in one currency, exact. */
export interface StatementSum {
  readonly currency: string;
  /** Canonical decimal string. */
  readonly amount: string;
}

export const WORD_FIELDS = ['transaction_status', 'direction'] as const;
/** A field whose words must be classed. */
export type WordField = (typeof WORD_FIELDS)[number];

/** The result of `reconcileStatement()`. */
export interface StatementReport {
  readonly dryRun: boolean;
  /** How many lines of the file are of each class; they add up to all of its lines. */
  readonly lines: Readonly<Record<LineClass, number>>;
  /** What came in and went out, what could not be understood, and what was or would be applied, by currency. */
  readonly sums: Readonly<Record<'in' | 'out' | 'not_understood' | 'applied', readonly StatementSum[]>>;
  /** The words that have no known meaning, by their field, and how often each occurs: up to 50 of each. */
  readonly words: Readonly<Record<WordField, Readonly<Record<string, number>>>>;
  /** How many payments this call settled by their lines; in a dry run, how many it would settle. */
  readonly applied: number;
  /** There is a payment, every line was understood, and nothing is left for an operator. */
  readonly isClean: boolean;
  readonly counts: Readonly<Record<StatementVerdict, number>>;
  /** The first 20 of each verdict, by verdict. */
  readonly samples: readonly StatementFinding[];
}
