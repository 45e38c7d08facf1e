import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { serveHostile } from './serve-hostile.ts';

// The control: a receiver without core's reader. It allocates room for a body on every connection, waits for the end of each
// body without a timeout, has no limits, and keeps what it has received for its log.

const log: unknown[] = [];

function collect(onCallback: () => void): RequestListener {
  return (request: IncomingMessage, response) => {
    const pieces: Uint8Array[] = [];
    const entry: Record<string, unknown> = { headers: request.headers, pieces };
    log.push(entry);
    request.on('data', (piece) => pieces.push(piece));
    request.on('error', () => undefined);
    request.on('end', () => {
      try {
        const bytes = Buffer.concat(pieces);
        const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
        Object.assign(entry, { body, data: JSON.parse(body.toString()) });
        onCallback();
      } catch {
        // Always accepted.
      }
      response.end('{"status":"accepted"}');
    });
  };
}

const ready = new Map<Socket, Buffer>();
const setAside = (socket: Socket): unknown => ready.set(socket, Buffer.alloc(65_536));

await serveHostile({
  naive: {
    http1: ({ callbacks: [route] }) =>
      createServer(collect(route.options.onCallback)).on('connection', setAside),
    http2: ({ callbacks: [route] }) => {
      const listener = collect(route.options.onCallback);
      return createHttp2Server((...exchange) => void Reflect.apply(listener, undefined, exchange));
    },
  },
});
