import { describe, expect, test } from 'vitest';
import { judge } from '../src/judge.ts';

const target = { size: 'typical', contender: 'core', over: 'stripe', atMost: 2 } as const;

describe('targets', () => {
  test('a ratio at the bound is met, one above it is missed', () => {
    expect(judge(target, measured([20, 20, 20], [10, 10, 10]))).toEqual({
      name: 'typical body: core over stripe',
      value: 2,
      unit: 'ratio',
      target: 2,
      met: true,
      p10: 2,
      p90: 2,
    });
    expect(judge(target, measured([21, 21, 21], [10, 10, 10]))).toMatchObject({ value: 2.1, met: false });
  });

  test('ratios are taken within each round: a slow round of the machine is no slow contender', () => {
    expect(judge(target, measured([15, 1500, 15], [10, 1000, 10]))).toMatchObject({
      value: 1.5,
      p10: 1.5,
      p90: 1.5,
    });
  });

  test('p10 and p90 say how far the rounds lie apart', () => {
    const rounds = Array.from({ length: 11 }, (_, round) => 10 + round);
    const ones = rounds.map(() => 10);
    expect(judge(target, measured(rounds, ones))).toMatchObject({ p10: 1.1, value: 1.5, p90: 1.9 });
  });

  test('a target for something that was not measured is an error', () => {
    expect(() => judge({ ...target, over: 'nobody' }, measured([1], [1]))).toThrow(
      'A target names nobody, which was not measured.',
    );
  });
});

function measured(core: number[], stripe: number[]): Map<{ name: string }, number[]> {
  return new Map([
    [{ name: 'core' }, core],
    [{ name: 'stripe' }, stripe],
  ]);
}
