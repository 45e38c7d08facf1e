import { Readable } from 'node:stream';
import { ConfigurationError } from '@payment-service/core';
import { checkArgument, checkOptions, type OptionRule } from '@payment-service/core/internal';
import { findColumns, findSeparator } from './columns.ts';
import { decoded, type Encoding, prepended } from './decoded.ts';
import { LineReader, line } from './line-reader.ts';
import { proposedMap } from './line-words.ts';
import type { Pairs } from './pairs.ts';
import { MAX_RECORD, recordsIn, type Separator } from './records.ts';
import type { StatementLine, StatementRow } from './statement.ts';
import { FORMAT_RULES, type StatementFormat } from './statement-format.ts';

/** How a file was read. */
export type HowRead = Omit<OpenedStatement, 'lines'>;

/** How a file was read, and its lines. */
export interface OpenedStatement {
  readonly separator: Separator;
  readonly encoding: Encoding;
  /** 0 if it has none. */
  readonly headerAt: number;
  /** The names of all columns. */
  readonly columns: readonly string[];
  /** By field, the column that probably has it, for an operator who has to say so: a guess that nothing uses. */
  readonly proposed: Pairs;
  /** The first ten lines after the names, as they were read. */
  readonly preview: readonly StatementLine[];
  /** All lines, for `reconcileStatement()`. They can be read once. */
  readonly lines: AsyncIterable<StatementLine>;
}

/** The fields that the first lines have, in the order in which they first appear. */
export const previewFields = ({ preview }: HowRead): (keyof StatementRow)[] => [
  ...new Set(preview.flatMap(({ row }) => Object.keys(row) as (keyof StatementRow)[])),
];

const SOURCE: OptionRule = [
  (source) => ArrayBuffer.isView(source) || typeof Object(source)[Symbol.asyncIterator] === 'function',
  'bytes, or a stream of bytes such as createReadStream(path)',
];
const PREVIEW = 10;

/**
 * Reads a statement that a service, a bank or a wallet exported as CSV, as a stream: its length does not matter. Every line is
 * something: a payment, money out, no payment, or not understood. Nothing is repaired.
 *
 * @throws {ConfigurationError} For a file that cannot be read, and for a column that is missing; it names no value.
 *
 * @example
 * const map = { merchant_reference: 'Reference', amount: 'Betrag', transaction_status: 'Status' };
 * const set = { transaction_type: 'COLLECTION', currency: 'UGX' };
 * const statement = await readStatement(createReadStream('may.csv'), { map, set, decimal: 'comma' });
 * console.table(statement.preview.map(({ row }) => row));
 * await inbox.reconcileStatement(statement.lines, { from, to, by: 'dana', note: 'May' });
 */
export async function readStatement(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  format: StatementFormat,
): Promise<OpenedStatement> {
  checkArgument('readStatement()', 'source', source, SOURCE);
  checkOptions('readStatement()', format, FORMAT_RULES);
  const bytes = ArrayBuffer.isView(source) ? Readable.from([source]) : source;
  const { encoding, text } = await decoded(bytes, format.encoding);
  const pieces = text[Symbol.asyncIterator]();
  let head = '';
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
    head += piece.value;
    if (head.length > MAX_RECORD) break;
  }
  const separator = format.separator ?? (await findSeparator(head, format));
  const all = prepended([head], pieces);
  const records = recordsIn(all, { separator, areQuotesText: format.quotes === 'text' });
  const close = async (error: unknown): Promise<never> => {
    await records.return(undefined);
    throw error;
  };
  const found = await findColumns(records, format).catch(close);
  if (found === undefined)
    return close(new ConfigurationError('map', 'The statement has no line with all columns that you gave.'));
  const { columns, before } = found;
  const reader = await Promise.resolve()
    .then(() => new LineReader(columns, format))
    .catch(close);
  const preview: StatementLine[] = [];
  const ahead: StatementLine[] = before.map((record) => line(record, 'heading'));
  while (preview.length < PREVIEW) {
    const { value, done } = await records.next();
    if (done) break;
    const read = reader.read(value);
    ahead.push(read);
    preview.push(read);
  }
  async function* linesIn(): AsyncGenerator<StatementLine> {
    try {
      yield* ahead;
      for await (const record of records) yield reader.read(record);
    } finally {
      await records.return(undefined);
    }
  }
  const { names, at: headerAt } = columns;
  const proposed = proposedMap(names);
  return { separator, encoding, headerAt, columns: names, proposed, preview, lines: linesIn() };
}
