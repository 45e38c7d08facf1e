import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, type Report } from '@payment-service/durability/measure/program.ts';
import { runLab } from '@payment-service/durability/measure/run-lab.ts';
import { expect, test } from 'vitest';

test('most faults of a sample in the reading of decimals are found, and none of those that no test reaches is', async () => {
  const report = join(await makeFolder(), 'report.json');
  // A survivor makes the run exit with 1, and the sample of faults changes with the code.
  runLab(['mutation', 'amounts', '--file', 'decimal.ts', '--share', '0.03', '--report', report]);
  const { tables } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const [decimals = [], control = []] = tables[0]?.rows.map((row) => row.slice(1, 6).map(Number)) ?? [];
  const [planted = 0, killed] = decimals;
  expect(planted).toBeGreaterThanOrEqual(2);
  expect(killed).toBeGreaterThanOrEqual(planted * 0.75);
  const [reached = 0, ...ofControl] = control;
  expect(reached).toBeGreaterThan(0);
  expect(ofControl).toEqual([0, 0, reached, 0]);
});
