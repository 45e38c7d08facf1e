import { printRows, type Spread } from '@payment-service/measure';
import type { Measurement, Result } from './judge.ts';
import type { Way } from './measure.ts';

const TITLES: Readonly<Record<Way, string>> = {
  store: 'At the store, called directly',
  http: 'Over HTTP, verified, from the request to the answer',
};

export function printMeasurements(all: readonly Measurement[], missing: readonly string[]): void {
  for (const way of ['http', 'store'] as const) {
    console.log(`\n${TITLES[way]}`);
    printRows(
      ['', 'callbacks/s', 'p50 ms', 'p99 ms', 'times the floor', ''],
      all
        .filter((one) => one.way === way)
        .map(({ contender, perSecond, p50Ms, p99Ms, overFloor, call }) => [
          contender,
          Math.round(perSecond.median).toLocaleString('en'),
          p50Ms.median.toFixed(2),
          p99Ms.median.toFixed(2),
          overFloor === undefined ? '' : withRange(overFloor),
          call,
        ]),
    );
    for (const line of missing) console.log(`  ${line}`);
  }
}

export function printResults(results: readonly Result[]): void {
  console.log('\nTargets, in callbacks a second');
  printRows(
    ['', 'ratio', 'at least', ''],
    results.map((result) => [
      result.name,
      withRange({ ...result, median: result.value }),
      result.target.toFixed(2),
      result.met ? 'met' : 'MISSED',
    ]),
  );
}

function withRange({ median, p10, p90 }: Spread): string {
  return `${median.toFixed(2)} (${p10.toFixed(2)} to ${p90.toFixed(2)})`;
}
