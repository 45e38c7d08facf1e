import { printRows, type Spread } from '@payment-service/measure';
import type { Result } from './judge.ts';

/** Figures for a reader, printed and kept in the report. */
export interface Table {
  readonly title: string;
  /** One heading for every column; the first names the row, and the last one may explain it. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function printTable({ title, head, rows }: Table): void {
  console.log(`\n${title}`);
  printRows(head, rows);
}

export function targetTable(results: readonly Result[]): Table {
  return {
    title: 'Targets',
    head: ['', 'value', 'p10 to p90', 'target', 'unit', ''],
    rows: results.map((result) => [
      result.name,
      figure(result.value),
      range(result),
      `${result.bound} ${figure(result.target)}`,
      result.unit,
      result.met ? 'met' : 'MISSED',
    ]),
  };
}

/** `1.23 (1.10 to 1.31)`. */
export function withRange(all: Spread): string {
  return all.p10 === all.p90 ? figure(all.median) : `${figure(all.median)} (${range(all)})`;
}

/** `1.10 to 1.31`; empty where there were no rounds. */
export function range({ p10, p90 }: Pick<Spread, 'p10' | 'p90'>): string {
  return p10 === p90 ? '' : `${figure(p10)} to ${figure(p90)}`;
}

/** Ratios with two decimals, counts with separators. */
export function figure(value: number): string {
  return Math.abs(value) < 100 && !Number.isInteger(value)
    ? value.toFixed(2)
    : Math.round(value).toLocaleString('en');
}
