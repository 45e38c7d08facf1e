import { createHook } from 'node:async_hooks';
import { expect, test, vi } from 'vitest';
import { type Limited, TimeLimit } from '../../src/receive/time-limit.ts';
import { uncaughtExceptions } from '../uncaught.ts';

/** Starts one that the limit will end; `over` resolves when it has. If it is lost, vitest's timeout ends the test. */
function started(limit: TimeLimit): { readonly limited: Limited; readonly over: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { limited: limit.start(() => resolve()), over: promise };
}

test('a limit ends things in the order in which they started, except those that have stopped', async () => {
  const limit = new TimeLimit(16);
  const ended: string[] = [];
  limit.start(() => ended.push('first'));
  const stopped = limit.start(() => ended.push('stopped'));
  const last = started(limit);
  limit.stop(stopped);
  await last.over;
  expect(ended).toEqual(['first']);
});

test('the clock of a limit ticks nine times an eighth of it, however many are under it, and not without them', async () => {
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
  await next.over;
});

test('an onOver that throws is an uncaught exception, and the others still end', async () => {
  const failure = new Error('the bridge failed');
  const errors = uncaughtExceptions();
  const limit = new TimeLimit(16);
  limit.start(() => {
    throw failure;
  });
  await started(limit).over;
  await started(limit).over;
  await vi.waitFor(() => expect(errors).toEqual([failure]));
});
