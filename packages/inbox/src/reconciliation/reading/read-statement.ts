import { Readable } from 'node:stream';
import { checkArgument, checkOptions, type OptionRule } from '@payment-service/core/internal';
import type { StatementLine, StatementRow } from '../statement-report.ts';
import { findColumns } from './columns.ts';
import { decoded, type Encoding, prepended } from './encodings.ts';
import { type FileRecord, MAX_RECORD, recordsIn, type Separator } from './file-records.ts';
import { lineReader } from './line-reader.ts';
import { proposedMap } from './line-words.ts';
import type { Pairs } from './name-value-pairs.ts';
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
 * @throws {InvalidInputError} For a file that cannot be read, and for a column that is missing; it names no value.
 * @throws {ConfigurationError} Names a wrong member of `format`.
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
  try {
    let head = '';
    let missing = format.headerAt ?? 0;
    for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
      head += piece.value;
      missing -= piece.value.split(/\r\n?|\n/).length - 1;
      if (head.length > MAX_RECORD && missing <= 0) break;
    }
    const found = await findColumns(head, format);
    const { names: columns, headerAt, separator } = found;
    const records = recordsIn(prepended([head], pieces), { ...format, separator });
    const lines = linesOf(records, lineReader(found, format));
    const ahead: StatementLine[] = [];
    while (ahead.length < headerAt + PREVIEW) {
      const { value, done } = await lines.next();
      if (done) break;
      ahead.push(value);
    }
    const preview = ahead.filter(({ line }) => line > headerAt).slice(0, PREVIEW);
    const proposed = proposedMap(columns);
    return { separator, encoding, headerAt, columns, proposed, preview, lines: prepended(ahead, lines) };
  } catch (error) {
    await pieces.return?.();
    throw error;
  }
}

async function* linesOf(
  records: AsyncIterable<FileRecord>,
  read: (record: FileRecord) => StatementLine,
): AsyncGenerator<StatementLine, undefined> {
  for await (const record of records) yield read(record);
}
