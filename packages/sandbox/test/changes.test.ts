import { expect, test } from 'vitest';
import { createStore, type Unit } from '../src/state/store.ts';

const put =
  (amount: number, day = 'day') =>
  (unit: Unit): void =>
    unit.put('spent', day, { amount });

test('a change that fails, or that could not be saved, is undone, and no listener is told', () => {
  let full = false;
  let told = 0;
  const saved: string[] = [];
  const save: NonNullable<Parameters<typeof createStore>[0]>['save'] = (changes) => {
    if (full) throw new Error('disk full');
    saved.push(...changes.map(({ kind, id }) => `${kind} ${id}`));
  };
  const store = createStore({ load: () => {}, save, close: () => {} }, () => {
    told += 1;
  });
  store.write(put(1));
  full = true;
  expect(() => store.write(put(2))).toThrow('disk full');
  full = false;
  const half = (): void =>
    store.write((unit) => {
      put(3)(unit);
      unit.clear((kind) => kind === 'spent');
      put(4, 'other')(unit);
      throw new Error('half way');
    });
  expect(half).toThrow('half way');
  expect([store.list('spent'), saved, told]).toEqual([[{ amount: 1 }], ['spent day'], 1]);
});
