/** A word or words with a capital letter first and no other, such as a state in a cell. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();

/** A decimal of any length with its whole digits grouped: '5,000,000.50'. Anything else is returned as it is. */
export function groupedDigits(amount: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(amount) ?? [];
  const first = whole.length % 3 || 3;
  const grouped = whole.slice(0, first) + whole.slice(first).replace(/\d{3}/g, ',$&');
  return whole === '' ? amount : sign + grouped + fraction;
}

const plain = new Intl.NumberFormat('en');

/** A number with its digits grouped. */
export const count = (value: number): string => plain.format(value);

/** "1 attempt", "2 attempts". */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** A spreadsheet would read a cell that begins like this as a formula, so it gets a leading apostrophe (threat A56). */
const FORMULA = /^[=+\-@\t\r]/;

/** A line of CSV (RFC 4180). */
export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(text: string): string {
  const shown = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
