import { type OptionRules, RECORD } from '@payment-service/core/internal';
import { oneOf, STRING, STRINGS, wholeNumber } from '../../option-rules.ts';
import { STATUS_MEANINGS, type StatusMeaning } from '../../states.ts';
import { STATEMENT_FIELDS } from '../line-class.ts';
import { DECIMALS, type DecimalMark } from './amount-text.ts';
import { ENCODINGS, type Encoding } from './encodings.ts';
import { SEPARATOR_NAMES, type Separator } from './file-records.ts';
import type { Pairs } from './name-value-pairs.ts';

/** What can have a column: the fields of a row, and its amount in two columns. */
export const COLUMN_FIELDS: readonly string[] = [...STATEMENT_FIELDS, 'credit', 'debit'];

/** What you state about a file: the protocol shows none of it. */
export interface StatementFormat {
  /**
   * By field, the name of its column, or its number such as `#3`. Which way money went follows from the sign of `amount`, from
   * `credit` and `debit`, two columns in place of `amount`, or from `direction`, a column of words such as DR and CR.
   */
  readonly map: Pairs;
  /** By field, the value of every line whose cell is empty. @default none */
  readonly set?: Pairs | undefined;
  /** How the file spells the status of a paid line. @default 'COMPLETED' */
  readonly paid?: string | undefined;
  /** What the other words of its column of statuses mean, such as `{ Returned: 'reversed' }`. @default none */
  readonly statuses?: Readonly<Record<string, StatusMeaning>> | undefined;
  /** Words of the column `direction` for money that came in. @default CR, C, CREDIT, IN, BIJ, H, HABEN, K, KREDIT and + */
  readonly in?: readonly string[] | undefined;
  /** Words for money that went out. @default DR, D, DEBIT, OUT, AF, S, SOLL, DEBET and - */
  readonly out?: readonly string[] | undefined;
  /** What is between two columns. @default the one with which a line has all mapped columns */
  readonly separator?: Separator | undefined;
  /** With `'text'`, quotation marks are ordinary characters. @default they surround cells */
  readonly quotes?: 'text' | undefined;
  /**
   * The mark in front of decimals; groups of three digits may then be separated by the other mark, a space or an apostrophe.
   * @default a point, without groups: `1.000` and `1,000` are then ambiguous, and settle nothing
   */
  readonly decimal?: DecimalMark | undefined;
  /** @default that of the byte order mark, otherwise 'utf-8' */
  readonly encoding?: Encoding | undefined;
  /**
   * The number of the line with the column names, from 1; with 0, the file has none, and columns have numbers.
   * @default the first of 50 lines with all mapped columns
   */
  readonly headerAt?: number | undefined;
}

export const FORMAT_RULES: OptionRules<StatementFormat> = {
  map: [RECORD[0], 'an object: the columns by field', true],
  set: RECORD,
  paid: STRING,
  statuses: [
    (value) =>
      Object.values(Object(value)).every((meaning) => STATUS_MEANINGS.some((one) => one === meaning)),
    `a map from a word to one of ${STATUS_MEANINGS.join(', ')}`,
  ],
  in: STRINGS,
  out: STRINGS,
  separator: oneOf(SEPARATOR_NAMES),
  quotes: oneOf(['text']),
  decimal: oneOf(DECIMALS),
  encoding: oneOf(ENCODINGS),
  headerAt: wholeNumber(1_000_000, 0),
};

/** What a format says besides its columns. */
export type FormatField = Exclude<keyof StatementFormat, 'map' | 'set'>;
export const FORMAT_FIELDS: readonly FormatField[] = (
  Object.keys(FORMAT_RULES) as (keyof StatementFormat)[]
).filter((name) => name !== 'map' && name !== 'set');
