import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Group } from '../src/intake/intake.ts';
import { pause, TimedOut, within } from '../src/time.ts';
import { signal } from './support/until.ts';

const MINUTE_MS = 60_000;

test('a group holds what arrives in one turn of the event loop, or while another group is being sent', async () => {
  const { sent, mayGoOn, add } = heldGroup();
  const results = [1, 2].map(add);
  expect(sent).toEqual([]);
  await turn();
  expect(sent).toEqual([[1, 2]]);
  results.push(...[3, 4, 5, 6].map(add));
  await turn();
  expect(sent).toEqual([[1, 2]]);
  mayGoOn.give();
  expect(await Promise.all(results)).toEqual([10, 20, 30, 40, 50, 60]);
  expect(sent.map(String)).toEqual(['1,2', '3,4,5,6']);
});

test('a second group is sent concurrently with the first when it has 64 items, and a third waits', async () => {
  const { sent, mayGoOn, add } = heldGroup();
  const results = [add(1)];
  await turn();
  const others = Array.from({ length: 140 }, (_each, index) => index + 2);
  results.push(...others.map(add));
  await turn();
  expect(sent).toEqual([[1], others.slice(0, 64)]);
  mayGoOn.give();
  expect(await Promise.all(results)).toEqual([1, ...others].map((item) => item * 10));
  expect(sent.map(({ length }) => length)).toEqual([1, 64, 64, 12]);
});

test('an error affects its own group only, and the next one is sent', async () => {
  const group = new Group<number, number>(async (items) => {
    await turn();
    if (items.includes(2)) throw new Error('no');
    return items;
  });
  const results = [1, 2].map((item) => group.add(item, MINUTE_MS));
  await turn();
  results.push(...[3, 4].map((item) => group.add(item, MINUTE_MS)));
  const statuses = (await Promise.allSettled(results)).map(({ status }) => status);
  expect(statuses).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
});

test('an item that is not sent in time is never sent, and one that was sent is abandoned', async () => {
  const { sent, mayGoOn, group, add } = heldGroup();
  const patient = add(1);
  await turn();
  const third = add(3);
  const hasty = [group.add(2, 30), group.add(4, 1)];
  await Promise.all(hasty.map((item) => expect(item).rejects.toThrow(TimedOut)));
  mayGoOn.give();
  expect(await Promise.all([patient, third])).toEqual([10, 30]);
  expect(sent).toEqual([[1], [3]]);
  const { group: silent } = heldGroup();
  await expect(silent.add(1, 20)).rejects.toThrow(TimedOut);
});

test('when 5,000 items wait, one more is refused immediately', async () => {
  const { mayGoOn, add } = heldGroup();
  const added = Array.from({ length: 5000 }, (_, index) => add(index));
  await expect(add(5001)).rejects.toThrow(TimedOut);
  mayGoOn.give();
  expect(await Promise.all(added)).toHaveLength(5000);
});

test('a pause ends with any of its signals, also one that was aborted before, and a wait that is too long says so', async () => {
  const later = new AbortController();
  const pauses = [AbortSignal.abort(), later.signal].map((each) =>
    pause(MINUTE_MS, new AbortController().signal, each),
  );
  await pauses[0];
  later.abort();
  await pauses[1];
  expect(await within(MINUTE_MS, Promise.resolve(7))).toBe(7);
  const late = within(1, new Promise(() => undefined));
  const error = { name: 'TimedOut', code: 'ETIMEDOUT', message: 'The store did not answer in time.' };
  await expect(late).rejects.toMatchObject(error);
});

/** A group whose sending waits until it may continue. */
function heldGroup() {
  const sent: number[][] = [];
  const mayGoOn = signal();
  const group = new Group<number, number>(async (items) => {
    sent.push([...items]);
    await mayGoOn.promise;
    return items.map((item) => item * 10);
  });
  return { sent, mayGoOn, group, add: (item: number) => group.add(item, MINUTE_MS) };
}
