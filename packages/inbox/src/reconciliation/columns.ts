import { Readable } from 'node:stream';
import { ConfigurationError } from '@payment-service/core';
import { type FileRecord, recordsIn, SEPARATOR_NAMES, type Separator } from './records.ts';
import type { StatementFormat } from './statement-format.ts';

/** The line with the names of the columns. */
export interface Columns {
  readonly names: readonly string[];
  /** The number of its line; 0 if the file has none. */
  readonly at: number;
}

const WITHIN = 50;

/** Exports write a space that does not break, or two. */
const normal = (name: string): string => name.replace(/\s+/g, ' ').trim();

const isNumber = (name: string): boolean => numberIn(name) !== undefined;
const numberIn = (name: string): number | undefined =>
  /^#[1-9]\d*$/.test(name) ? Number(name.slice(1)) : undefined;

/** The index of a column, from its name or its number such as `#3`; -1 if there is none. */
function placeOf(name: string, names: readonly string[]): number {
  const number = numberIn(name);
  return number === undefined ? names.indexOf(normal(name)) : number - 1;
}

/** By field, the place of its column. */
export function placesIn(map: StatementFormat['map'], { names }: Columns): [field: string, place: number][] {
  return Object.entries(map).map(([field, name]) => {
    const place = placeOf(name, names);
    if (!isNumber(name) && place !== names.lastIndexOf(normal(name)))
      throw new ConfigurationError(
        'map',
        'Two columns of the statement have the same name. Give the number of the column in place of its name, such as #3.',
      );
    return [field, place];
  });
}

/** Reads up to the line with the names of all mapped columns, which it yields with the lines in front of it. */
export async function findColumns(
  records: AsyncGenerator<FileRecord>,
  { map, headerAt }: Pick<StatementFormat, 'map' | 'headerAt'>,
): Promise<{ readonly columns: Columns; readonly before: readonly FileRecord[] } | undefined> {
  const wanted = Object.values(map);
  if (headerAt === 0 && !wanted.every(isNumber))
    throw new ConfigurationError('map', 'Without names of columns, map has their numbers, such as #3.');
  if (headerAt === 0) return { columns: { names: [], at: 0 }, before: [] };
  const before: FileRecord[] = [];
  while (before.length < (headerAt ?? WITHIN)) {
    const { value, done } = await records.next();
    if (done || (headerAt !== undefined && value.line > headerAt)) return undefined;
    before.push(value);
    const names = value.cells.map(normal);
    const isHere = headerAt === undefined ? isHeader(names, wanted) : value.line === headerAt;
    if (isHere && wanted.every((name) => placeOf(name, names) in names))
      return { columns: { names, at: value.line }, before };
  }
  return undefined;
}

/** By their numbers, columns are in every line: names are words, and a first payment that passed for them would be lost. */
const isHeader = (names: readonly string[], wanted: readonly string[]): boolean =>
  !wanted.every(isNumber) ||
  (names.filter((name) => /\p{L}/u.test(name)).length > 1 && !names.some((name) => /\d/.test(name)));

/** The separator with which a line of the head has all mapped columns; without any, the one with the most columns. */
export async function findSeparator(head: string, format: StatementFormat): Promise<Separator> {
  const start = head.slice(0, head.lastIndexOf('\n') + 1) || head;
  const found: [Separator, number][] = [];
  let unreadable: unknown;
  for (const separator of SEPARATOR_NAMES) {
    const records = recordsIn(Readable.from([start]), { separator, areQuotesText: format.quotes === 'text' });
    const columns = await findColumns(records, format).catch((error: unknown) => {
      if (Object(error).option === 'map') throw error;
      // With another separator, a quotation mark can be misplaced.
      unreadable ??= error;
    });
    const first = format.headerAt === 0 ? await records.next().catch(() => undefined) : undefined;
    await records.return(undefined);
    if (columns !== undefined) found.push([separator, (first?.value?.cells ?? columns.columns.names).length]);
  }
  const isByNumber = Object.values(format.map).every(isNumber);
  const most = Math.max(...found.map(([, count]) => count));
  const [one, ...others] = isByNumber ? found.filter(([, count]) => count === most) : found;
  if (one !== undefined && others.length === 0) return one[0];
  if (one === undefined && unreadable !== undefined) throw unreadable;
  throw new ConfigurationError(
    one === undefined ? 'map' : 'separator',
    one === undefined && isByNumber
      ? `None of the first ${WITHIN} lines of the statement looks like the names of its columns. Pass headerAt; with 0, the file has no names, and columns have numbers such as #3.`
      : one === undefined
        ? `None of the first ${WITHIN} lines of the statement has the columns that you gave. Compare their names, and pass separator and headerAt.`
        : 'The columns of the statement can be read with several separators. Pass separator.',
  );
}
