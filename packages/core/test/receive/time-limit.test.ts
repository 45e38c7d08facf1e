import { describe, expect, test, vi } from 'vitest';
import { type Limited, TimeLimit } from '../../src/receive/time-limit.ts';

/** Resolves once the limit has ended this one. */
function started(limit: TimeLimit): { readonly limited: Limited; readonly over: Promise<void> } {
  let end = (): void => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { limited: limit.start(() => end()), over };
}

describe('one limit for many things', () => {
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

  test('it ends none before its time, however many there are, and its clock ticks eight times in that time', async () => {
    const ticks = vi.spyOn(globalThis, 'setTimeout');
    const limit = new TimeLimit(160);
    for (let others = 0; others < 9; others++) limit.start(() => undefined);
    expect(ticks.mock.calls).toEqual([[expect.any(Function), 20]]);
    ticks.mockRestore();
    const over = started(limit).over.then(() => 'the limit');
    const timer = new Promise((resolve) => setTimeout(resolve, 160, 'a timer'));
    expect(await Promise.race([over, timer])).toBe('a timer');
  });

  test('stopping an expired one, as a handler that settles too late does, leaves the others under the limit', async () => {
    const limit = new TimeLimit(16);
    const late = started(limit);
    await late.over;
    const next = started(limit);
    limit.stop(late.limited);
    limit.stop(late.limited);
    await next.over; // Never, if the second of them had been lost: vitest's deadline would end the test.
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
      await same.over; // Never, if the clock had stopped: vitest's deadline would end the test.
      await started(limit).over;
    } finally {
      for (const listener of before) process.on('uncaughtException', listener);
    }
  });
});
