import { canonicalAmount } from '@payment-service/core';
import { checkArgument, checkOptions, type OptionRules, RECORD } from '@payment-service/core/internal';
import type { ActionNote } from '../action-note.ts';
import { NAME } from '../option-rules.ts';
import { type IntakeRecord, isStorableCurrency } from '../records.ts';
import type { StatementVerdict } from '../states.ts';
import type { KnownExpectation } from '../work/verdict/evaluate.ts';
import { isAmbiguousAmount, isPlainAmount } from './amount-text.ts';
import type { Period } from './balances.ts';

/**
 * One row of a statement, with the names of the protocol. The format of the service's statements is not shown, so the program
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
  /** @default the only event of `completedEvents` */
  readonly event?: string | undefined;
  /** The account in the statement, for the option `account`. */
  readonly account?: string | undefined;
}

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
}

/** What each verdict means, for an operator. */
export const STATEMENT_VERDICTS: Readonly<Record<StatementVerdict, string>> = {
  settled: 'Settled here, and paid in the statement, with the same money.',
  not_paid: 'Neither settled here nor paid in the statement.',
  paid_without_callback: 'Paid in the statement and expected here; no callback arrived.',
  waiting_here: 'Paid in the statement; its callback arrived and was not applied.',
  absent_from_statement: 'Settled here in the period, but missing in the statement: the money may not exist.',
  other_amount: 'The statement has a different amount from the expected one.',
  other_currency: 'The statement has a different currency from the expected one.',
  other_status: 'Settled here, but not paid in the statement.',
  paid_by_another: 'Paid in the statement, but settled here by another transaction.',
  not_expected: 'Paid in the statement, but no expectation is known here.',
  duplicate: 'The statement has more than one paid row for this reference.',
  other_account: 'The row belongs to another account. Nothing is applied from its file.',
  ambiguous_amount:
    'Its amount, such as 1.000, is a thousand in one notation and one in another. Say which mark is in front of decimals. Nothing is applied from its file.',
  malformed: 'A field is missing or malformed. Nothing is applied from its file.',
};

/** A row and its verdict. */
export interface StatementFinding {
  /** The number of the row, from 1; undefined for what is absent from the statement. */
  readonly row: number | undefined;
  readonly verdict: StatementVerdict;
  readonly merchant_reference: string;
  readonly internal_reference: string | undefined;
  /** Of the transition that settled it here, or that the row would create. */
  readonly transitionId: string | undefined;
  /** What is wrong with a malformed row, or why a payment cannot be settled by its row. */
  readonly detail: string | undefined;
}

/** The result of `reconcileStatement()`. */
export interface StatementReport {
  readonly dryRun: boolean;
  readonly rows: number;
  /** How many payments this call settled by their rows; in a dry run, how many it would settle. */
  readonly applied: number;
  /** Nothing is left for an operator: every row is `settled` or `not_paid`, or was applied. */
  readonly isClean: boolean;
  readonly counts: Readonly<Record<StatementVerdict, number>>;
  /** The first 20 of each verdict, by verdict. */
  readonly samples: readonly StatementFinding[];
}

const REQUIRED_NAME = [NAME[0], NAME[1], true] as const;
const ROW_RULES: OptionRules<StatementRow> = {
  merchant_reference: REQUIRED_NAME,
  internal_reference: NAME,
  transaction_type: REQUIRED_NAME,
  transaction_status: REQUIRED_NAME,
  currency: [isStorableCurrency, 'a currency code', true],
  amount: [
    isPlainAmount,
    'digits with at most one point, such as 1999.90 (see the option decimal of readStatement())',
    true,
  ],
  event: NAME,
  account: NAME,
};
/** The fields of a row, in the order in which operators are asked for them. */
export const STATEMENT_FIELDS = Object.keys(ROW_RULES) as readonly (keyof StatementRow)[];

/** A row, and the record that its callback would have created. */
export interface Entry {
  readonly finding: Omit<StatementFinding, 'verdict' | 'detail'>;
  readonly given: StatementRow;
  readonly record: IntakeRecord;
  /** The signed string that is unknown. */
  readonly lacks: 'internal_reference' | 'event' | undefined;
}

/** What is known here about a row. */
export interface Known {
  readonly expectation: KnownExpectation | undefined;
  /** The internal_reference that has settled it. */
  readonly paidBy: string | undefined;
  /** The state of the row's own transition. */
  readonly state: string | undefined;
}

type Judgement = readonly [verdict: StatementVerdict, detail?: string | undefined];

export const isPaid = ({ given }: Pick<Entry, 'given'>): boolean => given.transaction_status === 'COMPLETED';

export function groupOf(row: Pick<StatementRow, 'merchant_reference' | 'transaction_type'>): string {
  return JSON.stringify([row?.merchant_reference, row?.transaction_type]);
}

/** The verdict of a row alone, before anything is looked up. */
export function refusalOf(row: StatementRow, { account }: StatementOptions): Judgement | undefined {
  try {
    checkArgument('reconcileStatement()', 'row', row, RECORD);
    if (isAmbiguousAmount(row.amount)) return ['ambiguous_amount'];
    checkOptions('reconcileStatement()', row, ROW_RULES);
  } catch (error) {
    // It names the field, not its value.
    return ['malformed', Object(error).message];
  }
  return account !== undefined && row.account !== account ? ['other_account'] : undefined;
}

export function findingOf(
  { merchant_reference = '', internal_reference }: Partial<StatementRow>,
  row?: number,
  transitionId?: string,
): Entry['finding'] {
  // That of a malformed row may be anything.
  const shown = typeof merchant_reference === 'object' ? '' : String(merchant_reference);
  return { row, merchant_reference: shown, internal_reference, transitionId };
}

/** @param paid How many rows of this reference and type are paid. */
export function judge(entry: Entry, { expectation, paidBy, state }: Known, paid: number): Judgement {
  const { given, lacks } = entry;
  const isSettled = expectation?.settledBy !== undefined;
  const isNamed = given.internal_reference !== undefined;
  const isOther = isNamed && paidBy !== undefined && paidBy !== given.internal_reference;
  // Another attempt at the same payment may have failed.
  if (!isPaid(entry)) return [isSettled && !isOther && (isNamed || paid === 0) ? 'other_status' : 'not_paid'];
  if (expectation === undefined) return ['not_expected'];
  if (isOther) return ['paid_by_another'];
  if (paid > 1) return ['duplicate'];
  if (expectation.currency !== given.currency) return ['other_currency'];
  if (expectation.amount !== canonicalAmount(given.amount)) return ['other_amount'];
  if (isSettled) return ['settled'];
  if (state !== undefined) return ['waiting_here', state];
  const detail = lacks && `the row has no ${lacks}, so its later callback would be another transition`;
  return ['paid_without_callback', detail];
}
