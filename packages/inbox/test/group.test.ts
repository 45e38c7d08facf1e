import { expect, it } from 'vitest';
import { Group } from '../src/group.ts';
import { pause, signal } from './support/until.ts';

const NEVER = new AbortController().signal;

it('sends the first at once, and what comes meanwhile together', async () => {
  const sent: number[][] = [];
  const mayGoOn = signal();
  const group = new Group<number, number>({
    async send(items) {
      sent.push([...items]);
      await mayGoOn.promise;
      return items.map((item) => item * 10);
    },
    lanes: 1,
    most: 3,
  });
  const results = [1, 2, 3, 4, 5].map((item) => group.add(item, NEVER));
  expect(sent).toEqual([[1]]);
  mayGoOn.give();
  expect(await Promise.all(results)).toEqual([10, 20, 30, 40, 50]);
  expect(sent).toEqual([[1], [2, 3, 4], [5]]);
});

it('an error is for its own group, and the next one goes on', async () => {
  const group = new Group<number, number>({
    async send(items) {
      await pause(1);
      if (items.includes(2)) throw new Error('no');
      return items;
    },
    lanes: 1,
    most: 2,
  });
  const results = await Promise.allSettled([1, 2, 3, 4].map((item) => group.add(item, NEVER)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
});

it('what is withdrawn before it is sent is not sent, and holds nothing', async () => {
  const sent: number[][] = [];
  const mayGoOn = signal();
  const group = new Group<number, number>({
    async send(items) {
      sent.push([...items]);
      await mayGoOn.promise;
      return items;
    },
    lanes: 1,
    most: 10,
  });
  const first = group.add(1, NEVER);
  const withdrawal = new AbortController();
  const second = group.add(2, withdrawal.signal);
  const third = group.add(3, NEVER);
  withdrawal.abort(new Error('too late'));
  await expect(second).rejects.toThrow('too late');
  mayGoOn.give();
  await Promise.all([first, third]);
  expect(sent).toEqual([[1], [3]]);
  expect(group.size).toBe(0);
});
