/** A spreadsheet would read a cell that begins like this as a formula, so it gets a leading apostrophe (threat A56). */
const FORMULA = /^[=+\-@\t\r]/;

/** A line of CSV (RFC 4180). */
export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(text: string): string {
  const shown = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
