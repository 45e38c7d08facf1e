import { ratio } from '@payment-service/measure';
import { describe, expect, test } from 'vitest';
import { judge } from '../src/judge.ts';

describe('targets', () => {
  test('a ratio at its upper bound is met, and one above it is missed', () => {
    expect(judge('core over stripe', 'ratio', ratio([20, 20], [10, 10]), { atMost: 2 })).toEqual({
      name: 'core over stripe',
      value: 2,
      unit: 'ratio',
      bound: 'at most',
      target: 2,
      met: true,
      p10: 2,
      p90: 2,
    });
    expect(judge('', 'ratio', ratio([21, 21], [10, 10]), { atMost: 2 })).toMatchObject({
      value: 2.1,
      met: false,
    });
  });

  test('a ratio at its lower bound is met, and one below it is missed', () => {
    expect(judge('', 'ratio', ratio([13], [10]), { atLeast: 1.3 })).toMatchObject({ value: 1.3, met: true });
    expect(judge('', 'ratio', ratio([12], [10]), { atLeast: 1.3 })).toMatchObject({ value: 1.2, met: false });
  });

  test('what was not measured is never met', () => {
    expect(judge('', 'ratio', ratio([], []), { atMost: 2 }).met).toBe(false);
    expect(judge('', 'ratio', ratio([1], []), { atLeast: 0 }).met).toBe(false);
    expect(judge('', 'ratio', ratio([1], [0]), { atLeast: 0 }).met).toBe(false);
  });
});
