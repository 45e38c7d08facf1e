import { expect, test } from 'vitest';
import { SEED } from '../support/crash-run.ts';
import { figureOf, reportOf, runLab } from '../support/run-program.ts';

test('the control, whose effects commit before the transition is done, shows doubles', () => {
  const size = ['--kills', '8', '--transitions', '300'];
  const report = reportOf('crash-test', '--store', 'postgres', ...size, ...SEED, '--control');
  expect(figureOf(report, 'control, effects outside the transaction: applied twice')).toBeGreaterThan(0);
});

test('without a store or kills it says how it is used', () => {
  for (const args of [[], ['--store', 'mysql', '--kills', '1'], ['--store', 'sqlite', '--kills', 'many']]) {
    const { status, stderr } = runLab(['crash-test', ...args]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^Usage: crash-test --kills N --store postgres\|sqlite/);
  }
});
