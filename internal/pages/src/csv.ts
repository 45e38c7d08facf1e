/** A cell that begins so would be a formula to a spreadsheet: it gets an apostrophe before it (threat A56). */
const FORMULA = /^[=+\-@\t\r]/;

/** A line of CSV (RFC 4180). */
export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(text: string): string {
  const shown = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
