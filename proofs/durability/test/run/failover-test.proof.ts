import { expect, test } from 'vitest';
import { figureOf, reportOf, runLab } from '../../src/measure/run-lab.ts';

test('nothing acknowledged is lost or applied twice after a failover, and the control loses', () => {
  const report = reportOf('failover-test', '--rounds', '1', '--control-rounds', '1');
  expect(figureOf(report, 'payments applied exactly once')).toBeGreaterThan(100);
  expect(figureOf(report, 'control, asynchronous: acknowledged and not applied')).toBeGreaterThan(0);
});

test('a flag that is not a number, or unknown, ends a program with 2 and what is wrong with it', () => {
  const wrong = runLab(['failover-test', '--control-rounds', 'none']);
  expect(wrong).toMatchObject({
    status: 2,
    stderr: '--control-rounds must be a whole number from 1, not none.\n',
  });
  const unknown = runLab(['failover-test', '--kills', '1']);
  expect([unknown.status, unknown.stderr.includes('--kills')]).toEqual([2, true]);
});
