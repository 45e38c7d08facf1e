import { describe, expect, test } from 'vitest';
import { judgeTarget, measurements } from '../../src/inbox/bench-inbox.ts';
import type { Measured } from '../../src/inbox/measure.ts';

const target = {
  way: 'store',
  contender: 'inbox, postgres',
  over: 'floor, postgres',
  atLeast: 0.85,
} as const;

describe('targets', () => {
  test('a ratio at the bound is met, one below it is missed', () => {
    expect(
      judgeTarget(target, measured({ 'inbox, postgres': [85, 85], 'floor, postgres': [100, 100] })),
    ).toEqual({
      name: 'at the store: inbox, postgres over floor, postgres',
      value: 0.85,
      unit: 'ratio',
      bound: 'at least',
      target: 0.85,
      met: true,
      p10: 0.85,
      p90: 0.85,
    });
    const below = measured({ 'inbox, postgres': [84, 84], 'floor, postgres': [100, 100] });
    expect(judgeTarget(target, below)).toMatchObject({ met: false });
  });

  test('what could not be measured is no result, and what should have been is an error', () => {
    const only = measured({ 'inbox, postgres': [1] });
    expect(judgeTarget({ ...target, over: 'bullmq' }, only)).toBeUndefined();
    expect(() => judgeTarget({ ...target, contender: 'inbox, sqlite' }, only)).toThrow(
      'A target names inbox, sqlite',
    );
  });

  test('each engine has its own floor', () => {
    const engines = {
      'inbox, postgres': [90],
      'floor, postgres': [100],
      'inbox, sqlite': [300],
      'floor, sqlite': [200],
    };
    const rows = measurements(measured({ ...engines, bullmq: [50] }));
    const overFloor = (name: string): number | undefined =>
      rows.find(({ way, contender }) => way === 'store' && contender === name)?.overFloor?.median;
    expect(overFloor('inbox, postgres')).toBe(0.9);
    expect(overFloor('inbox, sqlite')).toBe(1.5);
    expect(overFloor('bullmq')).toBeUndefined();
  });
});

function measured(perSecond: Readonly<Record<string, readonly number[]>>): readonly Measured[] {
  return Object.entries(perSecond).map(([contender, values]) => {
    const samples = values.map((one) => ({ perSecond: one, p50Ms: 1, p99Ms: 2 }));
    return { way: 'store', contender, samples };
  });
}
