import { reportOf } from '@payment-service/durability/measure/run-lab.ts';
import { expect, test } from 'vitest';

test('a short run makes payments in SQL, finds and counts them through the inbox, and leaves nothing behind', () => {
  const report = reportOf('bench:scale', '--short');
  expect(report['pace']).toMatchObject({ payments: 15_000 });
  // None of them is unused.
  const timed = report.results.filter(({ unit }) => unit !== 'indexes');
  for (const { value } of timed) expect(value).toBeGreaterThan(0);
  const names = report.results.filter(({ target }) => target === 50).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['payments({})', 'counts()', 'report()', 'health()']));
});
