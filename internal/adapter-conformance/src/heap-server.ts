import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CALLBACK_PATH, SIGNING_KEY } from './http-request.ts';

/** The report of the server of a heap test. */
export interface HeapReport {
  readonly port: number;
  /** From all of its sockets. */
  readonly bytesRead: number;
  /** Live: `heapUsed` and `external` after a garbage collection. */
  readonly heapBytes: number;
}

interface HeapTestOptions {
  readonly signingKey: string;
  readonly onCallback: () => void;
}

/**
 * Serves one callback route in a process of its own, for `testLiveHeap()`. Apart from the suite, which needs vitest.
 *
 * @example
 * await serveForHeapTest(({ path, options }) => createServer(express().use(path, paymentCallbacks(options))));
 */
export async function serveForHeapTest(
  mount: (route: { readonly path: string; readonly options: HeapTestOptions }) => Server | Promise<Server>,
): Promise<void> {
  const options = { signingKey: SIGNING_KEY, onCallback: () => undefined };
  const server = await mount({ path: CALLBACK_PATH, options });
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  process.on('message', () => {
    const { gc } = globalThis;
    if (gc === undefined) throw new Error('Start this program with --expose-gc.');
    gc();
    const { heapUsed, external } = process.memoryUsage();
    const report: HeapReport = {
      port: (server.address() as AddressInfo).port,
      bytesRead: sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
      heapBytes: heapUsed + external,
    };
    process.send?.(report);
  });
}
