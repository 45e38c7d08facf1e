import { expect, test } from 'vitest';
import { runLab } from '../src/measure/run-lab.ts';

test('without a name, lab lists the proofs, and an unknown one fails with the list', () => {
  const list = runLab([]);
  expect([list.status, list.stderr]).toEqual([0, '']);
  for (const name of ['crash-test', 'bench:inbox', 'budgets'])
    expect(list.stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  const unknown = runLab(['crash', '--kills', '1']);
  expect([unknown.status, unknown.stdout]).toEqual([2, list.stdout]);
  expect(unknown.stderr).toContain('no proof named "crash"');
});
