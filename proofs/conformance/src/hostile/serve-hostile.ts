import type { Server } from 'node:http';
import type { Http2Server, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { CallbackOptions, RedirectOptions } from '@payment-service/core/receive';
import { CALLBACK_PATH, REDIRECT_PATH, SIGNING_KEY, VECTOR_KEY } from '../http-request.ts';

/** A route whose senders have 300 milliseconds for a body. */
export const STALLED_PATH = '/payments/stalled';

interface Mounted<Options> {
  readonly path: string;
  readonly options: Options;
}

type CallbackMount = Mounted<CallbackOptions & { readonly onCallback: () => void }>;

/** What a server must mount: two routes of callbacks, and one of redirects. */
export interface HostileRoutes {
  readonly callbacks: readonly [CallbackMount, CallbackMount];
  readonly redirects: Mounted<RedirectOptions & { readonly onRedirect: () => string }>;
}

/** How one framework mounts the adapter. None of the servers is listening yet. */
export interface HostileMount {
  readonly http1: (routes: HostileRoutes) => Server | Promise<Server>;
  /** Only if the framework serves HTTP/2. */
  readonly http2?: (routes: HostileRoutes) => Http2Server | Promise<Http2Server>;
}

/** The state of a server, as its own process sees it. */
export interface ServerReport {
  readonly ports: { readonly http1: number; readonly http2: number | undefined };
  readonly handled: number;
  readonly sockets: number;
  readonly streams: number;
  readonly bytesRead: number;
  /** The live heap, if requested: `heapUsed` and `external` after a garbage collection. */
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/**
 * Serves one of `mounts`, named by the program's first argument, in its own process, and reports its state on request.
 *
 * @example
 * await serveHostile({ 'express 5': { http1: (routes) => createServer(mounted(routes)) } });
 */
export async function serveHostile(mounts: Readonly<Record<string, HostileMount>>): Promise<void> {
  const mount = mounts[process.argv[2] ?? ''];
  if (mount === undefined) throw new Error(`The servers are ${Object.keys(mounts).join(', ')}.`);
  let handled = 0;
  let bytesReadBefore = 0;
  const onCallback = (): void => void handled++;
  const onRedirect = (): string => {
    handled++;
    return '/thanks';
  };
  // Refusals are expected here.
  const signingKey = [
    { id: 'suite', key: SIGNING_KEY },
    { id: 'vectors', key: VECTOR_KEY },
  ];
  const quiet = { signingKey, onRefused: () => undefined, onError: () => undefined };
  const routes: HostileRoutes = {
    callbacks: [
      { path: CALLBACK_PATH, options: { ...quiet, onCallback } },
      { path: STALLED_PATH, options: { ...quiet, onCallback, bodyTimeoutMs: 300 } },
    ],
    redirects: { path: REDIRECT_PATH, options: { ...quiet, onRedirect } },
  };
  const sockets = new Set<Socket>();
  let streams = 0;
  const watched = async (server: Server | Http2Server): Promise<number> => {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        bytesReadBefore += socket.bytesRead;
      });
    });
    server.on('stream', (stream: ServerHttp2Stream) => {
      streams++;
      stream.once('close', () => streams--);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };
  const http1 = await watched(await mount.http1(routes));
  const http2 = mount.http2 && (await watched(await mount.http2(routes)));
  process.on('disconnect', () => process.exit());
  process.on('message', (question) => {
    if (question === 'heap') globalThis.gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    const report: ServerReport = {
      ports: { http1, http2 },
      handled,
      sockets: sockets.size,
      streams,
      bytesRead: [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, bytesReadBefore),
      heapBytes: heapUsed + external,
      residentBytes: rss,
    };
    process.send?.(report);
  });
}
