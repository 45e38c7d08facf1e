import type { Server } from 'node:http';
import { type HostileRoutes, serveHostile } from './hostile/serve-hostile.ts';

/**
 * Serves one callback route in a process of its own, for `testLiveHeap()`. Apart from the suite, which needs vitest.
 *
 * @example
 * await serveForHeapTest(({ path, options }) => createServer(express().use(path, paymentCallbacks(options))));
 */
export async function serveForHeapTest(
  mount: (route: HostileRoutes['callbacks'][0]) => Server | Promise<Server>,
): Promise<void> {
  await serveHostile({ heap: { http1: ({ callbacks: [route] }) => mount(route) } });
}
