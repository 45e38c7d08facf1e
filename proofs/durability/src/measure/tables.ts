import type { Spread } from './measure.ts';
import type { Result } from './results.ts';

/** Figures for readers, printed and kept in the report. */
export interface Table {
  readonly title: string;
  /** One heading for every column; the first names the row, and the last one may explain it. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** For a terminal: the first and the last column are left-aligned, the others hold numbers. */
export function printTable({ title, head, rows }: Table): void {
  console.log(`\n${title}`);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  for (const row of [head, ...rows]) {
    const isText = (column: number): boolean => column === 0 || column === row.length - 1;
    const cells = row.map((cell, column) =>
      isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join('   ')}`.trimEnd());
  }
}

/** The results next to their targets. */
export function resultTable(results: readonly Result[]): Table {
  return {
    title: 'Targets',
    head: ['', 'value', 'p10 to p90', 'target', 'unit', ''],
    rows: results.map((result) => [
      result.name,
      figure(result.value),
      range(result),
      result.target === null ? '' : `${result.bound} ${figure(result.target)}`,
      result.unit,
      !result.met ? 'MISSED' : result.target === null ? '' : 'met',
    ]),
  };
}

/** `1.23 (1.10 to 1.31)`. */
export function withRange(all: Spread): string {
  return all.p10 === all.p90 ? figure(all.median) : `${figure(all.median)} (${range(all)})`;
}

/** `1.10 to 1.31`; empty if there were no rounds. */
export function range({ p10, p90 }: { readonly p10?: number; readonly p90?: number }): string {
  return p10 === undefined || p90 === undefined || p10 === p90 ? '' : `${figure(p10)} to ${figure(p90)}`;
}

/** Ratios with two decimals, counts with separators. */
export function figure(value: number): string {
  return Math.abs(value) < 100 && !Number.isInteger(value)
    ? value.toFixed(2)
    : Math.round(value).toLocaleString('en');
}
