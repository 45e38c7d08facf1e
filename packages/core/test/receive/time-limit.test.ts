import { createHook } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { type Limited, TimeLimit } from '../../src/receive/time-limit.ts';

/** Starts one that the limit will end; `over` resolves when it has. */
function started(limit: TimeLimit): { readonly limited: Limited; readonly over: Promise<void> } {
  let end = (): void => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { limited: limit.start(() => end()), over };
}

test('it ends them in the order in which they started, except those that have stopped', async () => {
  const limit = new TimeLimit(16);
  const ended: string[] = [];
  limit.start(() => ended.push('first'));
  const stopped = limit.start(() => ended.push('stopped'));
  const last = started(limit);
  limit.stop(stopped);
  await last.over;
  expect(ended).toEqual(['first']);
});

test('its clock ticks nine times an eighth of it, however many are under it, and not without them', async () => {
  let ticks = 0;
  const timers = createHook({
    init: (_id, type, _trigger, timer) => {
      if (type === 'Timeout' && Reflect.get(timer, '_idleTimeout') === 2) ticks++;
    },
  }).enable();
  const limit = new TimeLimit(16);
  await Promise.all([started(limit), started(limit), started(limit)].map(({ over }) => over));
  timers.disable();
  expect(ticks).toBe(9);
});

test('stopping an expired one, as a handler that settles too late does, leaves the others under the limit', async () => {
  const limit = new TimeLimit(16);
  const late = started(limit);
  await late.over;
  const next = started(limit);
  limit.stop(late.limited);
  limit.stop(late.limited);
  await next.over; // If the second of them had been lost, this would never resolve, and vitest's timeout would end the test.
});

test('an onOver that throws is an uncaught exception, and the others still end', async () => {
  const failure = new Error('the bridge failed');
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
  const limit = new TimeLimit(16);
  limit.start(() => {
    throw failure;
  });
  const same = started(limit);
  try {
    expect(await uncaught).toBe(failure);
    await same.over; // If the clock had stopped, this would never resolve, and vitest's timeout would end the test.
    await started(limit).over;
  } finally {
    for (const listener of before) process.on('uncaughtException', listener);
  }
});
