import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { Group } from '../src/intake/group.ts';
import { TimedOut, within } from '../src/time.ts';
import { signal } from './support/until.ts';

it('a group holds what arrives in one turn of the event loop, or while another group is under way', async () => {
  const { sent, mayGoOn, group } = heldGroup(1, 3);
  const results = [1, 2].map((item) => group.add(item));
  expect(sent).toEqual([]);
  await turn();
  expect(sent).toEqual([[1, 2]]);
  results.push(...[3, 4, 5, 6].map((item) => group.add(item)));
  await turn();
  expect(sent).toEqual([[1, 2]]);
  mayGoOn.give();
  expect(await Promise.all(results)).toEqual([10, 20, 30, 40, 50, 60]);
  expect(sent).toEqual([[1, 2], [3, 4, 5], [6]]);
});

it('an error is for its own group, and the next one goes on', async () => {
  const send = async (items: readonly number[]): Promise<readonly number[]> => {
    await turn();
    if (items.includes(2)) throw new Error('no');
    return items;
  };
  const group = new Group<number, number>({ send, lanes: 1, most: 2 });
  const results = await Promise.allSettled([1, 2, 3, 4].map((item) => group.add(item)));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
});

it('an item that is not sent in time is not sent later, and one that was sent is given up', async () => {
  const { sent, mayGoOn, group } = heldGroup(1, 10);
  const patient = group.add(1);
  await turn();
  const third = group.add(3);
  const hasty = [group.add(2, 30), group.add(4, 1)];
  await Promise.all(hasty.map((item) => expect(item).rejects.toThrow(TimedOut)));
  mayGoOn.give();
  expect(await Promise.all([patient, third])).toEqual([10, 30]);
  expect(sent).toEqual([[1], [3]]);
  const { group: silent } = heldGroup(1, 1);
  await expect(silent.add(1, 20)).rejects.toThrow(TimedOut);
  expect([group.size, silent.size]).toEqual([0, 0]);
});

it('a second lane is for full groups only', async () => {
  const { sent, mayGoOn, group } = heldGroup(2, 2);
  const results = [1, 2, 3].map((item) => group.add(item));
  await turn();
  expect(sent.map((items) => items.join())).toEqual(['1,2']);
  results.push(...[4, 5].map((item) => group.add(item)));
  await turn();
  expect(sent.map((items) => items.join())).toEqual(['1,2', '3,4']);
  mayGoOn.give();
  expect(await Promise.all(results)).toEqual([10, 20, 30, 40, 50]);
});

/** A group whose sending waits until it may go on. */
function heldGroup(lanes: number, most: number) {
  const sent: number[][] = [];
  const mayGoOn = signal();
  const send = async (items: readonly number[]): Promise<number[]> => {
    sent.push([...items]);
    await mayGoOn.promise;
    return items.map((item) => item * 10);
  };
  return { sent, mayGoOn, group: new Group<number, number>({ send, lanes, most }) };
}

const ECHO = "require('node:worker_threads').parentPort.on('message', function(m) { this.postMessage(m); })";

it('a time limit takes an answer that came in time to a process that stood still until after the limit', async () => {
  const other = new Worker(ECHO, { eval: true });
  onTestFinished(async () => void (await other.terminate()));
  await once(other, 'online');
  const answer = once(other, 'message');
  other.postMessage('question');
  const limited = within(50, answer);
  // After this, the next that the event loop looks at are the timers.
  await turn();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  // The timer is due now, and the answer has arrived; neither was seen.
  expect(await limited).toEqual(['question']);
});
