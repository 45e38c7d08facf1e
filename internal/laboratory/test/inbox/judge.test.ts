import { describe, expect, test } from 'vitest';
import type { ContenderId } from '../../src/inbox/contender.ts';
import { judgeTarget, measurements } from '../../src/inbox/judge.ts';
import type { Sample, Samples } from '../../src/inbox/measure.ts';

const target = { way: 'store', contender: 'inboxPostgres', over: 'floorPostgres', atLeast: 0.85 } as const;

describe('targets', () => {
  test('a ratio at the bound is met, one below it is missed', () => {
    expect(judgeTarget(target, samples({ inboxPostgres: [85, 85], floorPostgres: [100, 100] }))).toEqual({
      name: 'at the store: inbox, postgres over floor, postgres',
      value: 0.85,
      unit: 'ratio',
      bound: 'at least',
      target: 0.85,
      met: true,
      p10: 0.85,
      p90: 0.85,
    });
    const below = samples({ inboxPostgres: [84, 84], floorPostgres: [100, 100] });
    expect(judgeTarget(target, below)).toMatchObject({ met: false });
  });

  test('what could not be measured is no result, and what should have been is an error', () => {
    const only = samples({ inboxPostgres: [1] });
    expect(judgeTarget({ ...target, over: 'bullmq' }, only)).toBeUndefined();
    expect(() => judgeTarget({ ...target, contender: 'inboxSqlite' }, only)).toThrow(
      'A target names inboxSqlite',
    );
  });

  test('each engine has its own floor', () => {
    const engines = { inboxPostgres: [90], floorPostgres: [100], inboxSqlite: [300], floorSqlite: [200] };
    const rows = measurements(samples({ ...engines, bullmq: [50] }));
    const overFloor = (name: string): number | undefined =>
      rows.find(({ way, contender }) => way === 'store' && contender === name)?.overFloor?.median;
    expect(overFloor('inbox, postgres')).toBe(0.9);
    expect(overFloor('inbox, sqlite')).toBe(1.5);
    expect(overFloor('bullmq')).toBeUndefined();
  });
});

function samples(perSecond: Partial<Record<ContenderId, readonly number[]>>): Samples {
  const of = Object.entries(perSecond).map(
    ([id, values]) => [id as ContenderId, values.map(sample)] as const,
  );
  return { store: new Map(of), http: new Map(of) };
}

function sample(perSecond: number): Sample {
  return { perSecond, p50Ms: 1, p99Ms: 2 };
}
