import { expect, test } from 'vitest';
import { judgeTarget, measurements } from '../../src/inbox/bench-inbox.ts';
import type { Measured } from '../../src/inbox/measure.ts';

const target = {
  way: 'store',
  contender: 'inbox, postgres',
  over: 'floor, postgres',
  atLeast: 0.85,
} as const;

test('what a target names and was not measured is an error', () => {
  const only = measured({ 'inbox, postgres': [1] });
  expect(() => judgeTarget(target, only)).toThrow('floor, postgres is compared, and was not measured');
  expect(() => judgeTarget({ ...target, contender: 'inbox, sqlite' }, only)).toThrow('inbox, sqlite');
});

test('each engine has its own floor', () => {
  const engines = {
    'inbox, postgres': [90],
    'floor, postgres': [100],
    'inbox, sqlite': [300],
    'floor, sqlite': [200],
  };
  const rows = measurements(measured(engines));
  const overFloor = (name: string): number | undefined =>
    rows.find(({ way, contender }) => way === 'store' && contender === name)?.overFloor.median;
  expect(overFloor('inbox, postgres')).toBe(0.9);
  expect(overFloor('inbox, sqlite')).toBe(1.5);
});

function measured(perSecond: Readonly<Record<string, readonly number[]>>): readonly Measured[] {
  return Object.entries(perSecond).map(([contender, rates]) => ({ way: 'store', contender, rates }));
}
