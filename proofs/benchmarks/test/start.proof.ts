import { reportOf } from '@payment-service/durability/measure/run-lab.ts';
import { expect, test } from 'vitest';

test('a short run times every program and its floor until it is ready', () => {
  const { results } = reportOf('bench:start', '--short');
  expect(results).toHaveLength(14);
  expect(results.filter(({ bound }) => bound === 'at most')).toHaveLength(5);
  for (const { value } of results) expect(value).toBeGreaterThan(0);
});
