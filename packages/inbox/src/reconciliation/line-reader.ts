import { amountIn } from './amount-text.ts';
import { type Columns, placesIn } from './columns.ts';
import { directionOf, isCharge, isInterest, isTotal } from './line-words.ts';
import type { Pairs } from './pairs.ts';
import { type FileRecord, SEPARATORS } from './records.ts';
import type { StatementLine, StatementRow } from './statement.ts';
import type { StatementFormat } from './statement-format.ts';

export const line = (
  { line: number, lines }: FileRecord,
  verdict?: StatementLine['verdict'],
  { row = {}, detail }: Partial<StatementLine> = {},
): StatementLine => ({
  line: number,
  row,
  ...(lines > 1 && { lines }),
  ...(verdict !== undefined && { verdict }),
  ...(detail !== undefined && { detail }),
});

/** Reads each record of a file by the same rule, wherever it stands. */
export class LineReader {
  readonly #columns: Columns;
  readonly #format: StatementFormat;
  readonly #places: readonly [field: string, place: number][];
  readonly #width: number;

  constructor(columns: Columns, format: StatementFormat) {
    this.#columns = columns;
    this.#format = format;
    this.#places = placesIn(format.map, columns);
    this.#width = 1 + Math.max(-1, ...this.#places.map(([, place]) => place));
  }

  read(record: FileRecord): StatementLine {
    const { cells } = record;
    const { names } = this.#columns;
    const filled = cells.filter((cell) => cell !== '');
    if (filled.length === 0) return line(record, 'blank');
    if (names.length > 0 && names.every((name, place) => name === (cells[place] ?? '').replace(/\s+/g, ' ')))
      return line(record, 'heading');
    const given = Object.fromEntries(
      this.#places.flatMap(([field, place]) => (cells[place] ? [[field, cells[place]]] : [])),
    );
    const { merchant_reference: reference = '' } = given;
    const money = ['amount', 'credit', 'debit'].filter((field) => given[field] !== undefined);
    // In a short line, a cell may be of another column.
    const isShort = cells.length < this.#width;
    if (reference === '' || isShort ? filled.some(isTotal) : isTotal(reference)) return line(record, 'total');
    const isText = (reference === '' || filled.length === 1) && !this.#isRow(cells);
    if (money.length === 0 && isText) return line(record, 'text');
    const read = this.#rowOf(given);
    const isLong = names.length > 0 && cells.slice(names.length).some((cell) => cell !== '');
    if (isShort || isLong) {
      const detail = `it has ${cells.length} cells, and there are ${names.length || this.#width} columns`;
      return line(record, 'wrong_length', { row: read.row, detail });
    }
    return this.#classed(record, read, filled, given['transaction_type']);
  }

  /** One cell that has all columns, with another separator between them: as of two files in one. */
  #isRow([cell = '', ...others]: readonly string[]): boolean {
    const isAll = (separator: string): boolean => cell.split(separator).length >= this.#width;
    return this.#width > 1 && others.length === 0 && Object.values(SEPARATORS).some(isAll);
  }

  /** What a line of the right length is. */
  #classed(
    record: FileRecord,
    { row, verdict, detail }: Read,
    filled: readonly string[],
    type: string | undefined,
  ): StatementLine {
    const { merchant_reference: reference, amount, direction, meaning = 'paid' } = row;
    const isNothing = amount === undefined || /^0*(?:\.0*)?$/.test(amount);
    const isOwn = reference !== undefined;
    if (!isOwn && filled.some(isInterest)) return line(record, 'charge', { row });
    if (!isOwn && isNothing) return line(record, 'text', { row });
    if (verdict !== undefined) return line(record, verdict, { row, detail });
    if (!isOwn) return line(record, direction === 'out' ? 'money_out' : 'no_reference', { row });
    // Without a column that names its type, money out is no payment of the type that is set.
    const says = type === undefined ? filled : [type];
    if (direction !== 'out' || meaning !== 'paid') return line(record, undefined, { row });
    if (says.some(isCharge)) return line(record, 'charge', { row });
    return line(record, type === undefined ? 'money_out' : undefined, { row });
  }

  /** What the cells say, with the values of every row. */
  #rowOf(given: Pairs): Read {
    const { set = {}, paid, statuses = {}, decimal } = this.#format;
    const {
      credit,
      debit,
      amount,
      direction: word,
      transaction_status: status,
      ...others
    } = { ...set, ...given };
    const money = moneyIn({ credit, debit, amount }, { decimal, currency: others['currency'] });
    const own = (['in', 'out'] as const).find((way) => this.#format[way]?.includes(word ?? ''));
    const said = word === undefined ? undefined : (own ?? directionOf(word));
    const direction = said ?? money.direction;
    const isClassed = status !== undefined && Object.hasOwn(statuses, status);
    const isPaid = status !== undefined && status === paid;
    const meaning = isPaid ? 'paid' : isClassed ? statuses[status] : undefined;
    const row: Partial<StatementRow> = {
      ...others,
      ...(money.amount !== undefined && { amount: money.amount }),
      ...(direction !== undefined && { direction }),
      ...(status !== undefined && { transaction_status: meaning === 'paid' ? 'COMPLETED' : status }),
      ...(meaning !== undefined && { meaning }),
    };
    const isOpposite = said !== undefined && money.direction !== undefined && said !== money.direction;
    const problem =
      money.problem ??
      (word !== undefined && said === undefined
        ? 'its word for the direction is not known'
        : isOpposite
          ? 'its word and its sign contradict each other'
          : undefined);
    if (problem !== undefined)
      return { row: { ...row, direction: undefined }, verdict: 'unknown_direction', detail: problem };
    // COMPLETED is then another word of this statement.
    const isOther = paid !== undefined && status === 'COMPLETED' && meaning === undefined;
    return isOther ? { row, verdict: 'unknown_status' } : { row };
  }
}

/** A row, as far as it could be read. */
interface Read {
  readonly row: Partial<StatementRow>;
  readonly verdict?: StatementLine['verdict'];
  readonly detail?: string;
}

interface Money {
  readonly amount?: string | undefined;
  readonly direction?: 'in' | 'out' | undefined;
  readonly problem?: string;
}

/** Of one cell with a sign, or of two. */
function moneyIn(
  { amount, credit, debit }: Readonly<Record<'amount' | 'credit' | 'debit', string | undefined>>,
  how: Parameters<typeof amountIn>[1],
): Money {
  const [isIn, isOut] = [credit, debit].map((text) => /[1-9]/.test(text ?? ''));
  if (isIn && isOut) return { amount: credit, problem: 'both columns have an amount' };
  const text = isOut ? debit : isIn ? credit : (amount ?? credit ?? debit);
  if (text === undefined) return {};
  const read = amountIn(text, how);
  const sign = read?.isOut === undefined ? undefined : read.isOut ? 'out' : 'in';
  // Many write a minus before money out, and none before money in.
  if ((isIn && sign === 'out') || (isOut && sign === 'in'))
    return { amount: read?.amount, problem: 'its column and its sign contradict each other' };
  return { amount: read?.amount ?? text, direction: isOut ? 'out' : isIn ? 'in' : sign };
}
