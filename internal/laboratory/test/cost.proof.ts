import { expect, test } from 'vitest';
import type { Report } from '../src/measure/program.ts';
import { figureOf, reportOf } from './support/run-program.ts';

test('the cost of hostile inputs is measured, an unfinished body takes little heap, and a promise for each piece takes too much', () => {
  const report = reportOf<Report>('cost', '--short');
  expect(figureOf(report, 'shapes and sizes')).toBeGreaterThan(20);
  expect(figureOf(report, 'unfinished body: live heap')).toBeLessThanOrEqual(4);
  expect(figureOf(report, 'control: a promise for each piece')).toBeGreaterThan(4);
  // Thousands of copies of a list, so that the noise of a busy machine cannot hide it.
  expect(figureOf(report, 'control: the quadratic query')).toBeGreaterThan(1.5);
});
