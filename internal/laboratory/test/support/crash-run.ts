import { expect } from 'vitest';
import { figureOf, reportOf } from './run-program.ts';

/** Aims most kills at a handler or its commit: few random ones can all miss them. */
export const SEED: readonly string[] = ['--seed', '100'];

/** The run of each store is a test file of its own, since files run side by side and a run mostly waits. */
export function expectSurvived(store: 'postgres' | 'sqlite'): void {
  const size = ['--kills', '8', '--transitions', '300'];
  const report = reportOf('crash-test', '--store', store, ...size, ...SEED);
  expect(report.name).toBe(`crash-test-${store}`);
  expect(figureOf(report, 'kills')).toBe(8);
  expect(figureOf(report, 'payments applied exactly once')).toBeGreaterThan(200);
  expect(figureOf(report, 'applied twice')).toBe(0);
  expect(figureOf(report, 'control, a queue with leases: applied twice')).toBe(1);
}
