import { expect, test } from 'vitest';
import { figureOf, reportOf, runLab } from '../support/run-program.ts';

test('nothing acknowledged is lost or applied twice after a failover, and the control loses', () => {
  const report = reportOf('failover-test', '--rounds', '1', '--control-rounds', '1');
  expect(figureOf(report, 'payments applied exactly once')).toBeGreaterThan(100);
  expect(figureOf(report, 'control, asynchronous: acknowledged and not applied')).toBeGreaterThan(0);
  expect(report.output).toContain('with an asynchronous standby, a failover loses what was acknowledged');
});

test('without a number of rounds it says how it is used', () => {
  for (const args of [
    ['--rounds', '0'],
    ['--control-rounds', 'none'],
  ]) {
    const { status, stderr } = runLab(['failover-test', ...args]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^Usage: failover-test /);
  }
});
