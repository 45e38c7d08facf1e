import { expect, test } from 'vitest';
import { figureOf, reportOf, runLab } from '../../src/measure/run-lab.ts';

/** The seeds aim these few kills at handlers and commits: random ones could all miss them. */
const RUN = ['crash-test', '--store', 'postgres', '--kills', '4', '--payments', '100'] as const;

test('after four kills on PostgreSQL, what was acknowledged is stored, and each payment is applied exactly once', () => {
  const report = reportOf(...RUN, '--seed', '1274');
  expect(report.name).toBe('crash-test-postgres');
  expect(figureOf(report, 'kills')).toBeGreaterThanOrEqual(4);
  expect(figureOf(report, 'payments applied exactly once')).toBeGreaterThan(60);
  expect(figureOf(report, 'applied twice')).toBe(0);
});

test('the control, whose effects commit before the transition is done, shows doubles', () => {
  const report = reportOf(...RUN, '--seed', '55', '--control');
  expect(figureOf(report, 'control, effects outside the transaction: applied twice')).toBeGreaterThan(0);
});

test('without a store the crash test says how it is used', () => {
  const { status, stderr } = runLab(['crash-test', '--store', 'mysql', '--kills', '1']);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^Usage: crash-test --kills N --store postgres\|sqlite/);
});
