import type { StatementLine } from '../statement-report.ts';
import { amountIn } from './amount-text.ts';
import { type Columns, normal, placesIn } from './columns.ts';
import { type FileRecord, SEPARATORS } from './file-records.ts';
import { directionOf, isCharge, isInterest, isTotal } from './line-words.ts';
import type { Pairs } from './name-value-pairs.ts';
import type { StatementFormat } from './statement-format.ts';

/** What the cells of a line say. */
type Said = Partial<StatementLine>;

const MONEY_FIELDS = ['amount', 'credit', 'debit'];

/** Reads each record of a file by the same rule, wherever it is. */
export function lineReader(columns: Columns, format: StatementFormat): (record: FileRecord) => StatementLine {
  const { names, headerAt } = columns;
  const places = placesIn(format.map, columns);
  const width = 1 + Math.max(-1, ...places.map(([, place]) => place));
  const isNames = (cells: readonly string[]): boolean =>
    names.length > 0 && names.every((name, place) => name === normal(cells[place] ?? ''));
  /** One cell that has all columns, with another separator between them: as of two files in one. */
  const isRow = ([cell = '', ...others]: readonly string[]): boolean =>
    width > 1 &&
    others.length === 0 &&
    Object.values(SEPARATORS).some((by) => cell.split(by).length >= width);

  function saidBy({ cells, line }: FileRecord): Said {
    if (line <= headerAt || isNames(cells)) return { verdict: 'heading' };
    const filled = cells.filter((cell) => cell !== '');
    if (filled.length === 0) return { verdict: 'blank' };
    const given: Pairs = Object.fromEntries(
      places.flatMap(([field, place]) => (cells[place] ? [[field, cells[place]]] : [])),
    );
    const { merchant_reference: reference = '', transaction_type: type } = given;
    // In a short line, a cell may be of another column.
    const isShort = cells.length < width;
    if (reference === '' || isShort ? filled.some(isTotal) : isTotal(reference)) return { verdict: 'total' };
    const isText = (reference === '' || filled.length === 1) && !isRow(cells);
    if (isText && !MONEY_FIELDS.some((field) => given[field] !== undefined)) return { verdict: 'text' };
    const said = rowOf(given, format);
    const { row = {}, verdict } = said;
    const isLong = names.length > 0 && cells.slice(names.length).some((cell) => cell !== '');
    if (isShort || isLong) {
      const detail = `it has ${cells.length} cells, and there are ${names.length || width} columns`;
      return { row, verdict: 'wrong_length', detail };
    }
    const { merchant_reference, amount, direction, meaning = 'paid' } = row;
    if (merchant_reference === undefined) {
      if (filled.some(isInterest)) return { row, verdict: 'charge' };
      if (amount === undefined || /^0*(?:\.0*)?$/.test(amount)) return { row, verdict: 'text' };
      return { row, verdict: direction === 'out' ? 'money_out' : 'no_reference', ...said };
    }
    if (verdict !== undefined || direction !== 'out' || meaning !== 'paid') return said;
    if ((type === undefined ? filled : [type]).some(isCharge)) return { row, verdict: 'charge' };
    // Without a column that names its type, money out is not a payment of the type that is set.
    return type === undefined ? { row, verdict: 'money_out' } : said;
  }
  return (record) => {
    const { line, lines } = record;
    return { line, lines: lines > 1 ? lines : undefined, row: {}, ...saidBy(record) };
  };
}

/** What the cells say, with the values of every row. */
function rowOf(given: Pairs, format: StatementFormat): Said {
  const { set = {}, paid, statuses = {}, decimal } = format;
  const {
    credit,
    debit,
    amount,
    direction: word,
    transaction_status: status,
    ...others
  } = { ...set, ...given };
  const money = moneyIn({ credit, debit, amount }, { decimal, currency: others['currency'] });
  const said = word === undefined ? undefined : directionOf(word, format);
  const direction = said ?? money.direction;
  const isClassed = status !== undefined && Object.hasOwn(statuses, status);
  const isPaid = status !== undefined && status === paid;
  const meaning = isPaid ? 'paid' : isClassed ? statuses[status] : undefined;
  const row: StatementLine['row'] = {
    ...others,
    ...(money.amount !== undefined && { amount: money.amount }),
    ...(direction !== undefined && { direction }),
    ...(status !== undefined && { transaction_status: meaning === 'paid' ? 'COMPLETED' : status }),
    ...(meaning !== undefined && { meaning }),
  };
  const unknown = { row: { ...row, direction: undefined }, verdict: 'unknown_direction' } as const;
  if (money.problem !== undefined) return { ...unknown, detail: money.problem };
  if (word !== undefined && said === undefined)
    return { ...unknown, detail: 'its direction word is unknown', word };
  if (said !== undefined && said !== (money.direction ?? said))
    return { ...unknown, detail: 'its word and its sign contradict each other' };
  // COMPLETED is then another word of this statement.
  const isOther = paid !== undefined && status === 'COMPLETED' && meaning === undefined;
  return isOther ? { row, verdict: 'unknown_status' } : { row };
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
