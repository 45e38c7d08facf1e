import { reportOf } from '@payment-service/durability/measure/run-lab.ts';
import { describe, expect, test } from 'vitest';
import { judgeLatency } from '../src/latency/bench-latency.ts';

test('a short run times every callback of each contender from its request to its effect, and leaves nothing behind', () => {
  const { results } = reportOf('bench:latency', '--short');
  expect(results).toHaveLength(22);
  expect(results.map(({ bound }) => bound).filter((bound) => bound === 'at most')).toHaveLength(2);
  expect(results.map(({ bound }) => bound).filter((bound) => bound === 'above')).toHaveLength(1);
  for (const { value } of results) expect(value).toBeGreaterThan(0);
});

describe('the target of 5 ms', () => {
  const judged = (name: string, latencies: readonly number[]): boolean[] =>
    judgeLatency(new Map([[name, latencies]])).map(({ met }) => met);

  test('is held against the median on pg, and not against the slowest callbacks', () => {
    expect(judged('pg, two processes', [5, 5, 900])).toEqual([true, true]);
    expect(judged('pg, two processes', [5, 5.1, 5.1])).toEqual([false, true]);
  });

  test('must be missed by the control, which does not listen', () => {
    expect(judged('pg, not listening, two processes', [5, 500, 900])).toEqual([true, true]);
    expect(judged('pg, not listening, two processes', [5, 5, 900])).toEqual([false, true]);
  });

  test('is beside one of 1.3 floors, in two processes at one callback a second', () => {
    const judgedOver = (own: number): unknown =>
      judgeLatency(
        new Map([
          ['pg, two processes, 1 a second', [own]],
          ['floor, two processes, 1 a second', [1]],
        ]),
      ).at(-1)?.met;
    expect([1.3, 1.31].map(judgedOver)).toEqual([true, false]);
  });

  test('is not held against others', () => {
    expect(judged('graphile-worker, two processes', [6, 6, 6])).toEqual([true, true]);
  });

  test('is not met by what was not measured', () => {
    expect(() => judged('pg, two processes', [])).toThrow('Not measured: pg, two processes');
  });
});
