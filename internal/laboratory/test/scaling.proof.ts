import { expect, test } from 'vitest';
import type { Report } from '../src/measure/program.ts';
import { reportOf } from './support/run-program.ts';

interface Measured extends Report {
  readonly measurements: readonly Readonly<
    Record<'stage' | 'processes' | 'perSecond' | 'programsMs', unknown>
  >[];
}

test('a short run measures intake and drain with each number of processes, and leaves nothing behind', () => {
  const report = reportOf<Measured>('bench:scaling', '--short');
  const found = report.measurements.map(({ stage, processes }) => `${stage} ${processes}`);
  expect(found).toEqual(
    ['intake', 'drain'].flatMap((stage) => [1, 2, 4].map((count) => `${stage} ${count}`)),
  );
  for (const { perSecond, programsMs } of report.measurements)
    for (const measured of [perSecond, programsMs])
      expect(Reflect.get(Object(measured), 'median')).toBeGreaterThan(0);
  expect(report.results).toHaveLength(4);
});
