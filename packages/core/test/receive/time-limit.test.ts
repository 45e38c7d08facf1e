import { test } from 'vitest';
import { type Limited, TimeLimit } from '../../src/receive/time-limit.ts';

/** Starts one that the limit will end; `over` resolves when it has. If it is lost, vitest's timeout ends the test. */
function started(limit: TimeLimit): { readonly limited: Limited; readonly over: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { limited: limit.start(() => resolve()), over: promise };
}

test('stopping an expired one, as a handler that settles too late does, leaves the others under the limit', async () => {
  const limit = new TimeLimit(16);
  const late = started(limit);
  await late.over;
  const next = started(limit);
  limit.stop(late.limited);
  limit.stop(late.limited);
  await next.over;
});
