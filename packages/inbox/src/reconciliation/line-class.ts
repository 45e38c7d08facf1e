import { canonicalAmount } from '@payment-service/core';
import { checkArgument, checkOptions, type OptionRules, RECORD } from '@payment-service/core/internal';
import { isStorableCurrency } from '../delivery/stored-delivery.ts';
import { NAME, oneOf } from '../option-rules.ts';
import type { StatementVerdict, StatusMeaning } from '../states.ts';
import { isAmbiguousAmount, isPlainAmount } from './reading/amount-text.ts';
import {
  STATEMENT_MEANINGS,
  STATEMENT_VERDICTS,
  type StatementLine,
  type StatementMeaning,
  type StatementRow,
} from './statement-report.ts';

/** What a line says of its payment: money in or out, taken back, failed, not yet final; or that it cannot be understood. */
export type LineKind = 'in' | 'out' | 'charge' | 'reversed' | 'failed' | 'interim' | 'unclear';

export type Judgement = readonly [verdict: StatementVerdict, detail?: string | undefined];

/** A line as it is before anything is looked up. */
export interface ClassedLine {
  /** Its row has its meaning, if that is known. */
  readonly line: StatementLine;
  readonly kind: LineKind | null;
  /** Canonical; undefined for text that is no amount. */
  readonly amount: string | undefined;
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
    'digits with at most one point, such as 1999.90 (the option decimal reads other notations)',
    true,
  ],
  event: NAME,
  account: NAME,
  direction: oneOf(['in', 'out']),
  meaning: oneOf(STATEMENT_MEANINGS),
};
/** For a line that is not a payment to judge, only the money must be understood. */
const MONEY_RULES: OptionRules<Pick<StatementRow, 'currency' | 'amount'>> = {
  currency: ROW_RULES.currency,
  amount: ROW_RULES.amount,
};
/** The fields of a row that can have a column, in the order in which operators are asked for them. */
export const STATEMENT_FIELDS: readonly (keyof StatementRow)[] = (
  Object.keys(ROW_RULES) as (keyof StatementRow)[]
).filter((name) => name !== 'meaning');
/** What these words say in any statement; another word must be classed. */
const MEANINGS: Readonly<Record<string, StatementMeaning>> = {
  COMPLETED: 'paid',
  FAILED: 'failed',
  REVERSED: 'reversed',
  PENDING: 'interim',
};

/**
 * Classes a line by what it says alone.
 *
 * @param account The required account of every line.
 */
export function classOf(
  line: StatementLine,
  statuses: Readonly<Record<string, StatusMeaning>>,
  account: string | undefined,
): ClassedLine {
  // A program may pass anything.
  const row: Partial<StatementRow> = Object(line.row);
  const { transaction_status: status = '', direction } = row;
  const known: Readonly<Record<string, StatementMeaning>> = { ...MEANINGS, ...statuses };
  const meaning = row.meaning ?? (Object.hasOwn(known, status) ? known[status] : undefined);
  const [verdict = line.verdict, detail = line.detail] = judgementOf(line, meaning, account) ?? [];
  const amount = isPlainAmount(row.amount) ? canonicalAmount(row.amount) : undefined;
  const kindOf = (): LineKind | null | undefined => {
    if (verdict === undefined) return meaning === 'paid' ? (direction ?? 'in') : meaning;
    if (verdict === 'money_out') return 'out';
    if (verdict === 'charge') return direction === 'out' ? 'charge' : null;
    return STATEMENT_VERDICTS[verdict].is === 'not_understood' ? 'unclear' : null;
  };
  const said = meaning === undefined ? row : { ...row, meaning };
  return { line: { ...line, row: said, verdict, detail }, kind: kindOf() ?? null, amount };
}

/** What is wrong with a line, or what it is, if it is not a payment to judge. */
function judgementOf(
  { row, verdict }: StatementLine,
  meaning: StatementMeaning | undefined,
  account: string | undefined,
): Judgement | undefined {
  const isMoney = verdict === 'money_out' || (verdict === 'charge' && row.amount !== undefined);
  if (verdict !== undefined && !isMoney) return undefined;
  try {
    checkArgument('reconcileStatement()', 'row', row, RECORD);
    const { currency, amount } = row;
    if (isAmbiguousAmount(amount)) return ['ambiguous_amount'];
    if (isMoney) checkOptions('reconcileStatement()', { currency, amount }, MONEY_RULES);
    else checkOptions('reconcileStatement()', row, ROW_RULES);
  } catch (error) {
    // It names the field, not its value.
    return ['malformed', Object(error).message];
  }
  if (isMoney) return undefined;
  if (meaning === undefined) return ['unknown_status'];
  if (account !== undefined && row.account !== account) return ['other_account'];
  // A collection is money in: perhaps the columns of credit and debit are exchanged.
  const isExchanged = row.direction === 'out' && meaning === 'paid' && row.transaction_type === 'COLLECTION';
  return isExchanged ? ['money_out'] : undefined;
}
