import type { Result } from './judge.ts';
import type { Spread } from './spread.ts';
import type { Measurement } from './summarise.ts';

export function printMeasurements(measurements: readonly Measurement[]): void {
  const [first] = measurements;
  if (first === undefined) return;
  console.log(`\n${first.size} body, ${first.bytes} bytes`);
  printRows(
    ['', 'times the floor', 'p10 to p90', 'calls/s', ''],
    measurements.map(({ contender, call, overFloor, callsPerSecond }) => [
      contender,
      overFloor.median.toFixed(2),
      between(overFloor),
      callsPerSecond.toLocaleString('en'),
      call,
    ]),
  );
}

export function printResults(results: readonly Result[]): void {
  console.log('\nTargets');
  printRows(
    ['', 'ratio', 'p10 to p90', 'at most', ''],
    results.map((result) => [
      result.name,
      result.value.toFixed(2),
      between(result),
      result.target.toFixed(2),
      result.met ? 'met' : 'MISSED',
    ]),
  );
}

function between({ p10, p90 }: Pick<Spread, 'p10' | 'p90'>): string {
  return `${p10.toFixed(2)} to ${p90.toFixed(2)}`;
}

function printRows(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  for (const row of [head, ...rows]) {
    const isText = (column: number) => column === 0 || column === row.length - 1;
    const cells = row.map((cell, column) =>
      isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join('   ')}`.trimEnd());
  }
}
