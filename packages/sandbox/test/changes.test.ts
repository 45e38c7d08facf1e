import { expect, test } from 'vitest';
import { createChangeFeed, createStore } from '../src/state/store.ts';

test('every write that changes something increases the version, and notifies the listeners', () => {
  const feed = createChangeFeed(100, () => {});
  const store = createStore(undefined, feed.announce);
  const seen: number[] = [];
  const unsubscribe = feed.subscribe(() => seen.push(feed.version));
  store.write((unit) => unit.put('spent', 'day', { amount: 1 }));
  store.note((unit) => unit.put('spent', 'day', { amount: 2 }));
  store.write(() => undefined);
  expect(() =>
    store.write((unit) => {
      unit.put('spent', 'day', { amount: 3 });
      throw new Error('half way');
    }),
  ).toThrow('half way');
  expect(seen).toEqual([101, 102]);
  unsubscribe();
  store.write((unit) => unit.put('spent', 'day', { amount: 4 }));
  expect([feed.version, seen]).toEqual([103, [101, 102]]);
});

test('a listener that fails is reported, and neither the write nor the other listeners notice', () => {
  const errors: unknown[] = [];
  const feed = createChangeFeed(0, (error) => errors.push(error));
  const store = createStore(undefined, feed.announce);
  const failure = new Error('the stream broke');
  let told = 0;
  feed.subscribe(() => {
    throw failure;
  });
  feed.subscribe(() => {
    told += 1;
  });
  store.write((unit) => unit.put('spent', 'day', { amount: 1 }));
  expect([store.get('spent', 'day'), told, errors]).toEqual([{ amount: 1 }, 1, [failure]]);
});

test('closing ends every stream immediately, later ones included', () => {
  const feed = createChangeFeed(0, () => {});
  let ended = 0;
  let told = 0;
  for (let tab = 0; tab < 3; tab += 1) {
    feed.subscribe(() => {
      told += 1;
    });
    feed.ended.addEventListener('abort', () => {
      ended += 1;
    });
  }
  feed.end();
  feed.subscribe(() => {
    told += 1;
  });
  feed.announce();
  expect([ended, told, feed.ended.aborted]).toEqual([3, 0, true]);
});

test('notes are saved with the next write, beyond a hundred of them, or on close', () => {
  const saved: number[] = [];
  const store = createStore({
    load: () => {},
    save: (changes) => void saved.push(changes.length),
    close: () => void saved.push(0),
  });
  const note = (amount: number): void => store.note((unit) => unit.put('spent', `day ${amount}`, { amount }));
  note(1);
  expect([store.list('spent').length, saved]).toEqual([1, []]);
  store.write((unit) => unit.put('spent', 'day', { amount: 2 }));
  expect(saved).toEqual([2]);
  for (let number = 0; number < 101; number += 1) note(number);
  note(7);
  store.close();
  expect(saved).toEqual([2, 101, 1, 0]);
});
