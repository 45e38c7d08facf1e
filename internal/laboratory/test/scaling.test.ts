import { expect, test } from 'vitest';
import type { Report } from '../src/measure/program.ts';
import { reportOf } from './support/run-program.ts';

interface Measured extends Report {
  readonly measurements: readonly {
    readonly stage: string;
    readonly processes: number;
    readonly perSecond: { readonly median: number };
    readonly programsMs: { readonly median: number };
  }[];
}

test('a short run measures intake and drain with each number of processes, and leaves nothing behind', () => {
  const report = reportOf<Measured>('bench:scaling', '--short');
  expect(report.measurements.map(({ stage, processes }) => `${stage} ${processes}`)).toEqual([
    'intake 1',
    'intake 2',
    'intake 4',
    'drain 1',
    'drain 2',
    'drain 4',
  ]);
  for (const { perSecond, programsMs } of report.measurements) {
    expect(perSecond.median).toBeGreaterThan(0);
    expect(programsMs.median).toBeGreaterThan(0);
  }
  expect(report.results).toHaveLength(4);
});
