import { expect, test } from 'vitest';
import { testLiveHeap } from '../src/index.ts';
import { liveHeap } from '../src/live-heap.ts';

testLiveHeap('node:http', new URL('heap-server.ts', import.meta.url));

test('the heap test notices an adapter that keeps every piece of a body', { timeout: 120_000 }, async () => {
  const { growthBytes } = await liveHeap(new URL('heap-server-with-kept-chunks.ts', import.meta.url));
  expect(growthBytes).toBeGreaterThan(10_000_000);
});
