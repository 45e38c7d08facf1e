import { describe, expect, test } from 'vitest';
import { figureOf, reportOf, runLab } from '../support/run-program.ts';

/** Aims most kills at a handler or its commit: few random ones can all miss them. */
const SEED = ['--seed', '100'];

describe.each(['postgres', 'sqlite'])('%s', (store) => {
  test('after 16 kills, what was acknowledged is stored, and each payment is applied exactly once', () => {
    const size = ['--kills', '16', '--transitions', '600'];
    const report = reportOf('crash-test', '--store', store, ...size, ...SEED);
    expect(report.name).toBe(`crash-test-${store}`);
    expect(figureOf(report, 'kills')).toBe(16);
    expect(figureOf(report, 'payments applied exactly once')).toBeGreaterThan(400);
    expect(figureOf(report, 'applied twice')).toBe(0);
    expect(figureOf(report, 'control, a queue with leases: applied twice')).toBe(1);
  });
});

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
