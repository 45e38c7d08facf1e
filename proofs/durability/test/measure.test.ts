import { expect, test } from 'vitest';
import { difference, interleave, ratio, spread } from '../src/measure/measure.ts';
import { until } from '../src/measure/until.ts';

test('p10 and p90 lie between the values that are next to them', () => {
  const { p10, median, p90 } = spread([11, 1, 3, 5, 7, 9]);
  expect([p10, median, p90]).toEqual([2, 6, 10]);
});

test('a ratio is taken within each round, so that a slow round of the machine is no slow contender', () => {
  expect(ratio([15, 1500, 15], [10, 1000, 10])).toEqual({ median: 1.5, p10: 1.5, p90: 1.5 });
});

test('a difference is taken within each round, and a round that one side lacks gives none', () => {
  expect(difference([15, 1500, 15], [10, 1495, 10])).toEqual({ median: 5, p10: 5, p90: 5 });
  expect(difference([10, 10], [10]).median).toBeNaN();
});

test('interleaved rounds: every round runs every contender once, in an order that the random numbers decide', async () => {
  const numbers = [0.9, 0.1, 0.5, 0.1, 0.5, 0.9].values();
  const order: string[] = [];
  const samples = await interleave(
    ['a', 'b', 'c'],
    2,
    () => numbers.next().value ?? 0,
    (name, round) => order.push(`${name}${round}`),
  );
  expect(order).toEqual(['b0', 'c0', 'a0', 'a1', 'b1', 'c1']);
  expect([...samples]).toEqual([
    ['a', [3, 4]],
    ['b', [1, 5]],
    ['c', [2, 6]],
  ]);
});

test('a wait ends a run that makes no progress, and says where it stands', async () => {
  let step = 0;
  const state = (): string => `step ${Math.min(++step, 20)}`;
  const patience = { withinMs: 50, everyMs: 10 };
  await expect(until(state, () => false, patience)).rejects.toThrow('Nothing has moved for 0.05 s: step 20');
  expect(step).toBeGreaterThan(20);
});
