import { expect, test } from 'vitest';
import { ratio } from '../src/measure/measure.ts';
import { judge, told } from '../src/measure/results.ts';

test.each([
  ['at least', [false, true, true]],
  ['at most', [true, true, false]],
  ['above', [false, false, true]],
  ['below', [true, false, false]],
  ['exactly', [false, true, false]],
] as const)('%s 5 holds for 4, 5 and 6 as it says', (bound, expected) => {
  expect([4, 5, 6].map((value) => judge('', 'ms', value, bound, 5).met)).toEqual(expected);
});

test('what was not measured meets no bound, and is missed where it is only told', () => {
  expect(judge('', 'ms', Number.NaN, 'at most', 5).met).toBe(false);
  expect(judge('', 'ms', Number.POSITIVE_INFINITY, 'at least', 5).met).toBe(false);
  expect([Number.NaN, 0, 1].map((value) => told('', 'ms', value).met)).toEqual([false, false, true]);
});

test('a ratio of rounds is judged by its median, and what one side lacks is missed', () => {
  expect(judge('core over stripe', 'ratio', ratio([20, 20], [10, 10]), 'at most', 2)).toEqual({
    name: 'core over stripe',
    value: 2,
    unit: 'ratio',
    bound: 'at most',
    target: 2,
    met: true,
    p10: 2,
    p90: 2,
  });
  expect(judge('', 'ratio', ratio([21, 21], [10, 10]), 'at most', 2)).toMatchObject({
    value: 2.1,
    met: false,
  });
  expect(judge('', 'ratio', ratio([12], [10]), 'at least', 1.3)).toMatchObject({ value: 1.2, met: false });
  for (const lacking of [ratio([], []), ratio([1], []), ratio([1], [0])])
    expect(judge('', 'ratio', lacking, 'at least', 0).met).toBe(false);
});
