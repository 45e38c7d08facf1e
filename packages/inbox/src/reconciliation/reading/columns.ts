import { Readable } from 'node:stream';
import { InvalidInputError } from '@payment-service/core';
import { MAX_RECORD, recordsIn, SEPARATOR_NAMES, type Separator } from './file-records.ts';
import type { StatementFormat } from './statement-format.ts';

/** The columns of a file. */
export interface Columns {
  readonly separator: Separator;
  /** Empty if the file has none. */
  readonly names: readonly string[];
  /** The number of the line with the names; 0 if the file has none. */
  readonly headerAt: number;
  /** How many there are. */
  readonly width: number;
}

const WITHIN = 50;

/** Exports may write a no-break space, or two spaces. */
export const normal = (name: string): string => name.replace(/\s+/g, ' ').trim();

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
      throw new InvalidInputError(
        'map',
        'Two columns of the statement have the same name. Use the number of the column instead of its name, such as #3.',
      );
    return [field, place];
  });
}

/** The separator with which a line of the head has all mapped columns, and that line; by numbers alone, the one with the most. */
export async function findColumns(head: string, format: StatementFormat): Promise<Columns> {
  const { map, headerAt, separator: stated } = format;
  const isByNumber = Object.values(map).every(isNumber);
  if (headerAt === 0 && !isByNumber)
    throw new InvalidInputError('map', 'Without column names, map must contain column numbers, such as #3.');
  // In a longer file, the end of the last line is missing.
  const start = (head.length > MAX_RECORD && head.slice(0, head.lastIndexOf('\n') + 1)) || head;
  const found: Columns[] = [];
  let unreadable: unknown;
  for (const separator of stated === undefined ? SEPARATOR_NAMES : [stated]) {
    const columns = await columnsIn(start, separator, format).catch((error: unknown) => {
      // With another separator, a quotation mark can be misplaced.
      unreadable ??= error;
    });
    if (columns !== undefined) found.push(columns);
  }
  const most = Math.max(...found.map(({ width }) => width));
  const [one, ...others] = isByNumber ? found.filter(({ width }) => width === most) : found;
  if (one !== undefined && others.length === 0) return one;
  if (one === undefined && unreadable !== undefined) throw unreadable;
  throw new InvalidInputError(
    one === undefined ? 'map' : 'separator',
    one !== undefined
      ? 'The columns of the statement can be read with several separators. Pass separator.'
      : stated !== undefined
        ? 'The statement has no line with all columns that you gave.'
        : isByNumber
          ? `None of the first ${WITHIN} lines of the statement looks like the names of its columns. Pass headerAt; with 0, the file has no names, and columns have numbers such as #3.`
          : `None of the first ${WITHIN} lines of the statement has the columns that you gave. Compare their names, and pass separator and headerAt.`,
  );
}

async function columnsIn(
  head: string,
  separator: Separator,
  { map, headerAt, quotes }: StatementFormat,
): Promise<Columns | undefined> {
  const wanted = Object.values(map);
  for await (const { cells, line } of recordsIn(Readable.from([head]), { separator, quotes })) {
    if (headerAt === 0) return { separator, names: [], headerAt, width: cells.length };
    if (line > (headerAt ?? WITHIN)) return undefined;
    const names = cells.map(normal);
    const isHere = headerAt === undefined ? isHeader(names, wanted) : line === headerAt;
    if (isHere && wanted.every((name) => placeOf(name, names) in names))
      return { separator, names, headerAt: line, width: names.length };
  }
  return undefined;
}

/** By their numbers, columns are in every line: names are words, and a first payment that passed for them would be lost. */
const isHeader = (names: readonly string[], wanted: readonly string[]): boolean =>
  !wanted.every(isNumber) ||
  (names.filter((name) => /\p{L}/u.test(name)).length > 1 && !names.some((name) => /\d/.test(name)));
