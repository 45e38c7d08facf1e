import type { Report } from '@payment-service/durability/measure/program.ts';
import { reportOf } from '@payment-service/durability/measure/run-lab.ts';
import { expect, test } from 'vitest';
import { type Measurement, TARGETS } from '../../src/inbox/bench-inbox.ts';
import { BENCHED } from '../../src/inbox/contenders.ts';

interface Measured extends Report {
  readonly measurements: readonly Measurement[];
}

test('a short run measures both stores, their floors and a queue in both ways', () => {
  const report = reportOf<Measured>('bench:inbox', '--short');
  expect(report.isShort).toBe(true);
  expect(report.results).toHaveLength(TARGETS.length);
  for (const { value, target, met } of report.results) {
    expect(value).toBeGreaterThan(0);
    expect(met).toBe(value >= Number(target));
  }
  for (const way of ['store', 'http']) {
    const measured = report.measurements.filter((one) => one.way === way);
    expect(measured.map(({ contender }) => contender).sort()).toEqual(BENCHED.toSorted());
    for (const { perSecond } of measured) expect(perSecond.median).toBeGreaterThan(0);
  }
});
