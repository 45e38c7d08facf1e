import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ConfigurationError } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
  RECORD,
} from '@payment-service/core/internal';
import { parse } from 'csv-parse';
import { oneOf, STRING, wholeNumber } from '../option-rules.ts';
import { DECIMALS, type DecimalMark, plainAmount } from './amount-text.ts';
import { decoded, ENCODINGS, type Encoding, prepended } from './decoded.ts';
import type { Pairs } from './pairs.ts';
import { STATEMENT_FIELDS, type StatementRow } from './statement.ts';

export const SEPARATORS = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;
export type Separator = keyof typeof SEPARATORS;
const SEPARATOR_NAMES = Object.keys(SEPARATORS) as readonly Separator[];

/** What can have a column: the fields of a row, and its amount in two columns. */
export const COLUMN_FIELDS: readonly string[] = [...STATEMENT_FIELDS, 'credit', 'debit'];

/** What you state about a file: the protocol shows none of it. */
export interface StatementFormat {
  /**
   * By field, the column that has it. `credit` and `debit` are two columns in place of `amount`; a row with a debit is then left
   * out, unless a column names its `transaction_type`.
   */
  readonly map: Pairs;
  /** By field, the value of every row. @default none */
  readonly set?: Pairs | undefined;
  /** How the file spells the status of a paid row. @default 'COMPLETED' */
  readonly paid?: string | undefined;
  /** What is between two columns. @default the one with which a line has all mapped columns */
  readonly separator?: Separator | undefined;
  /**
   * The mark in front of decimals; groups of three digits may then be separated by the other mark, a space or an apostrophe.
   * @default a point, without groups: `1.000` and `1,000` are then ambiguous, and settle nothing
   */
  readonly decimal?: DecimalMark | undefined;
  /** @default that of the byte order mark, otherwise 'utf-8' */
  readonly encoding?: Encoding | undefined;
  /** The number of the line with the names of the columns, from 1. @default the first of 50 lines with all mapped columns */
  readonly headerAt?: number | undefined;
}

/** How a file was read. */
export type HowRead = Omit<OpenedStatement, 'rows'>;

/** The fields that the first rows have, in the order in which they first appear. */
export const previewFields = ({ preview }: HowRead): (keyof StatementRow)[] => [
  ...new Set(preview.flatMap((row) => Object.keys(row) as (keyof StatementRow)[])),
];

/** How a file was read, and its rows. */
export interface OpenedStatement {
  readonly separator: Separator;
  readonly encoding: Encoding;
  readonly headerAt: number;
  /** The names of all columns. */
  readonly columns: readonly string[];
  /** The first ten rows, as they were read. */
  readonly preview: readonly StatementRow[];
  /** All rows, for `reconcileStatement()`. They can be read once. */
  readonly rows: AsyncIterable<StatementRow>;
  /** How many lines `rows` has left out until now: debits, and what follows the last payment, such as a total. */
  readonly leftOut: { readonly debits: number; readonly atTheEnd: number };
}

const RULES: OptionRules<StatementFormat> = {
  map: [RECORD[0], 'an object: the columns by field', true],
  set: RECORD,
  paid: STRING,
  separator: oneOf(SEPARATOR_NAMES),
  decimal: oneOf(DECIMALS),
  encoding: oneOf(ENCODINGS),
  headerAt: wholeNumber(1_000_000),
};
const SOURCE: OptionRule = [
  (source) => ArrayBuffer.isView(source) || typeof Object(source)[Symbol.asyncIterator] === 'function',
  'bytes, or a stream of bytes such as createReadStream(path)',
];
const HEADER_WITHIN = 50;
const PREVIEW = 10;
/** Lines that may follow the last payment. */
const MAX_AT_THE_END = 5;
const MAX_RECORD = 65_536;

interface Line {
  readonly fields: readonly string[];
  /** The number of its last line, from 1. */
  readonly at: number;
}

/**
 * Reads a statement that a service, a bank or a wallet exported as CSV, as a stream: its length does not matter. Nothing is
 * repaired: a record that is cut off refuses the file.
 *
 * @throws {ConfigurationError} For a file that cannot be read, and for a column that is missing; it names no value.
 *
 * @example
 * const map = { merchant_reference: 'Reference', amount: 'Betrag', transaction_status: 'Status' };
 * const set = { transaction_type: 'COLLECTION', currency: 'UGX' };
 * const statement = await readStatement(createReadStream('may.csv'), { map, set, decimal: 'comma' });
 * console.table(statement.preview);
 * await inbox.reconcileStatement(statement.rows, { from, to, by: 'dana', note: 'May' });
 */
export async function readStatement(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  format: StatementFormat,
): Promise<OpenedStatement> {
  checkArgument('readStatement()', 'source', source, SOURCE);
  checkOptions('readStatement()', format, RULES);
  const bytes = ArrayBuffer.isView(source) ? Readable.from([source]) : source;
  const { encoding, text } = await decoded(bytes, format.encoding);
  const pieces = text[Symbol.asyncIterator]();
  let head = '';
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
    head += piece.value;
    if (head.length > MAX_RECORD) break;
  }
  const separator = format.separator ?? (await separatorOf(head, format));
  const lines = linesIn(prepended([head], pieces), separator);
  const { columns, at: headerAt } = await headerIn(lines, format).catch(async (error: unknown) => {
    await lines.return(undefined);
    throw error;
  });
  const leftOut = { debits: 0, atTheEnd: 0 };
  const rows = rowsIn(lines, columns, format, leftOut);
  const preview: StatementRow[] = [];
  while (preview.length < PREVIEW) {
    const { value, done } = await rows.next();
    if (done) break;
    preview.push(value);
  }
  const all = prepended(preview, rows);
  return { separator, encoding, headerAt, columns, preview, rows: all, leftOut };
}

/** The records of a file, the empty ones left out. */
async function* linesIn(text: AsyncIterable<string>, separator: Separator): AsyncGenerator<Line> {
  const parser = parse({
    delimiter: SEPARATORS[separator],
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD,
  });
  // Its error is that of the parser, which the loop throws.
  pipeline(Readable.from(text), parser).catch(() => undefined);
  try {
    for await (const { record: fields, info } of parser) yield { fields, at: info.lines };
  } catch (error) {
    const { code, lines } = Object(error);
    if (!String(code).startsWith('CSV_')) throw error;
    const why =
      code === 'CSV_MAX_RECORD_SIZE'
        ? `a record is longer than ${MAX_RECORD} characters`
        : 'a quotation mark or a line break is misplaced or missing';
    throw refusal(`Line ${lines} of the statement cannot be read: ${why}.`);
  }
}

/** The separator with which a line of the head has every mapped column. */
async function separatorOf(head: string, format: StatementFormat): Promise<Separator> {
  const start = head.slice(0, head.lastIndexOf('\n') + 1) || head;
  const found: Separator[] = [];
  for (const name of SEPARATOR_NAMES) {
    const lines = linesIn(Readable.from([start]), name);
    // With another separator, a quotation mark can be misplaced.
    if (await findHeader(lines, format).catch(() => undefined)) found.push(name);
    await lines.return(undefined);
  }
  const [separator, ...others] = found;
  if (separator !== undefined && others.length === 0) return separator;
  throw new ConfigurationError(
    found.length === 0 ? 'map' : 'separator',
    found.length === 0
      ? `None of the first ${HEADER_WITHIN} lines of the statement has the columns that you gave. Compare their names, and pass separator and headerAt.`
      : 'The columns of the statement can be read with several separators. Pass separator.',
  );
}

interface Header {
  /** The names of all columns. */
  readonly columns: readonly string[];
  /** The number of its line. */
  readonly at: number;
}

/** Reads up to the line with the names of the columns. */
async function headerIn(lines: AsyncGenerator<Line>, format: StatementFormat): Promise<Header> {
  const header = await findHeader(lines, format);
  if (header === undefined)
    throw new ConfigurationError('map', 'The statement has no line with all columns that you gave.');
  const { columns } = header;
  if (Object.values(format.map).some((name) => columns.indexOf(name) !== columns.lastIndexOf(name)))
    throw refusal('Two columns of the statement have the same name.');
  return header;
}

async function findHeader(
  lines: AsyncGenerator<Line>,
  { map, headerAt }: StatementFormat,
): Promise<Header | undefined> {
  const wanted = Object.values(map);
  for (let seen = 0; seen < (headerAt ?? HEADER_WITHIN); seen += 1) {
    const { value, done } = await lines.next();
    if (done || (headerAt !== undefined && value.at > headerAt)) return undefined;
    const columns = value.fields.map((name: string) => name.trim());
    const isHere = headerAt === undefined || value.at === headerAt;
    if (isHere && wanted.every((name) => columns.includes(name))) return { columns, at: value.at };
  }
  return undefined;
}

async function* rowsIn(
  lines: AsyncGenerator<Line>,
  columns: readonly string[],
  format: StatementFormat,
  leftOut: { debits: number; atTheEnd: number },
): AsyncGenerator<StatementRow> {
  const { map } = format;
  const places = Object.entries(map).map(([field, column]) => [field, columns.indexOf(column)] as const);
  /** Rows that may turn out to follow the last payment. */
  let held: Line[] = [];
  const rowOf = ({ fields, at }: Line): StatementRow | undefined => {
    if (fields.length !== columns.length)
      throw refusal(
        `Line ${at} of the statement cannot be read: it has ${fields.length} fields, and the header has ${columns.length}.`,
      );
    return statementRow(
      Object.fromEntries(places.map(([field, place]) => [field, fields[place]?.trim() ?? ''])),
      format,
    );
  };
  const given = (line: Line): readonly StatementRow[] => {
    const row = rowOf(line);
    if (row === undefined) leftOut.debits += 1;
    return row === undefined ? [] : [row];
  };
  for await (const line of lines) {
    const isPayment = ['merchant_reference', 'transaction_status', 'currency'].every((field) => {
      const place = places.find(([name]) => name === field)?.[1];
      return place === undefined || (line.fields[place]?.trim() ?? '') !== '';
    });
    // A line that is cut off has fewer fields, and is refused.
    if (!isPayment && line.fields.length === columns.length) {
      held.push(line);
      const [first] = held;
      if (held.length <= MAX_AT_THE_END || first === undefined) continue;
      held.shift();
      yield* given(first);
      continue;
    }
    for (const one of [...held, line]) yield* given(one);
    held = [];
  }
  leftOut.atTheEnd = held.length;
}

/** undefined for money that went out, unless the file says of which type it is. */
function statementRow(
  given: Readonly<Record<string, string>>,
  { set = {}, paid = 'COMPLETED', decimal, map }: StatementFormat,
): StatementRow | undefined {
  const { credit = '', debit = '', ...others } = given;
  const fields: Record<string, string> = {
    ...set,
    ...Object.fromEntries(Object.entries(others).filter(([, text]) => text !== '')),
  };
  if (map['credit'] !== undefined || map['debit'] !== undefined) {
    const [isIn, isOut] = [credit, debit].map((text) => /[1-9]/.test(text));
    if (isOut && !isIn && map['transaction_type'] === undefined) return undefined;
    // With both, the amount is malformed.
    fields['amount'] = isIn && isOut ? `${credit} ${debit}` : isOut ? debit : credit;
  }
  const amount = plainAmount(fields['amount'], { decimal, currency: fields['currency'] });
  if (amount !== undefined) fields['amount'] = amount;
  // COMPLETED is then another word of this statement, and refused.
  if (fields['transaction_status'] === paid) fields['transaction_status'] = 'COMPLETED';
  else if (fields['transaction_status'] === 'COMPLETED') delete fields['transaction_status'];
  // A field that is missing is a verdict of its row.
  return fields as Partial<StatementRow> as StatementRow;
}

function refusal(what: string): ConfigurationError {
  return new ConfigurationError(
    'statement',
    `${what} Nothing was applied. Export it again, as CSV with a header, and check the separator.`,
  );
}
