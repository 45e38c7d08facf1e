import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { CallbackOptions } from '@payment-service/core/receive';
import type { Application } from '../application.ts';
import { CALLBACK_PATH, REDIRECT_PATH, SIGNING_KEY, VECTOR_KEY } from '../http-request.ts';

/** Where the servers of an application listen. Senders to `stalled` have 300 milliseconds for a body. */
export type Ports = Readonly<Record<'callbacks' | 'stalled' | 'redirects', number>>;

/** The state of the servers, as their own process sees it. */
export interface ServerReport {
  readonly ports: { readonly http1: Ports; readonly http2: Ports | undefined };
  readonly handled: number;
  readonly sockets: number;
  readonly streams: number;
  readonly bytesRead: number;
  /** The live heap, if requested: `heapUsed` and `external` after a garbage collection. */
  readonly heapBytes: number;
}

/** Serves a listener over HTTP/2. Node's types do not say that it can. */
export function listenHttp2(listener: RequestListener): Server {
  return createHttp2Server(listener as never) as never;
}

/**
 * Serves the applications under the name that is the program's first argument, in its own process, and reports its state on
 * request.
 *
 * @param mounts the application over HTTP/1.1, and over HTTP/2 if the framework serves it.
 */
export async function serveHostile(
  mounts: Readonly<Record<string, readonly [http1: Application, http2?: Application]>>,
): Promise<void> {
  const mount = mounts[process.argv[2] ?? ''];
  if (mount === undefined) throw new Error(`The servers are ${Object.keys(mounts).join(', ')}.`);
  const sockets = new Set<Socket>();
  let [handled, streams, bytesReadBefore] = [0, 0, 0];
  const listen = async (created: Server | Promise<Server>): Promise<number> => {
    const server = await created;
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
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };
  const options = {
    signingKey: [
      { id: 'suite', key: SIGNING_KEY },
      { id: 'vectors', key: VECTOR_KEY },
    ],
    // Refusals are expected here.
    onRefused: () => undefined,
    onError: () => undefined,
  };
  const open = async (application: Application): Promise<Ports> => {
    const own = { before: undefined, after: undefined, handle: undefined };
    const onCallback = (): void => void handled++;
    const onRedirect = (): string => `/thanks?${handled++}`;
    const callbacks = (more: CallbackOptions): Promise<number> =>
      listen(application.callbacks({ ...own, path: CALLBACK_PATH, options: { ...more, onCallback } }));
    return {
      callbacks: await callbacks(options),
      stalled: await callbacks({ ...options, bodyTimeoutMs: 300 }),
      redirects: await listen(
        application.redirects({ ...own, path: REDIRECT_PATH, options: { ...options, onRedirect } }),
      ),
    };
  };
  const ports = { http1: await open(mount[0]), http2: mount[1] && (await open(mount[1])) };
  process.on('disconnect', () => process.exit());
  process.on('message', (question) => {
    if (question === 'heap') globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    const bytesRead = [...sockets].reduce((sum, socket) => sum + socket.bytesRead, bytesReadBefore);
    const heapBytes = heapUsed + external;
    const report: ServerReport = { ports, handled, sockets: sockets.size, streams, bytesRead, heapBytes };
    process.send?.(report);
  });
}
