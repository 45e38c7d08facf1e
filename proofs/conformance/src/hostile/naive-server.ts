import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { CallbackOptions } from '@payment-service/core/receive';
import type { Application } from '../application.ts';
import { listenHttp2, serveHostile } from './serve-hostile.ts';

// The control: a receiver without core's reader. It allocates room for a body on every connection, waits for the end of each
// body without a timeout, has no limits, and keeps what it has received for its log.

const log: unknown[] = [];

function collect({ onCallback }: CallbackOptions): RequestListener {
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
        onCallback?.(undefined as never);
      } catch {
        // Always accepted.
      }
      response.end('{"status":"accepted"}');
    });
  };
}

const ready = new Map<Socket, Buffer>();

function naive(listen: (listener: RequestListener) => Server): Application {
  const setAside = (socket: Socket): unknown => ready.set(socket, Buffer.alloc(65_536));
  return {
    callbacks: ({ options }) => listen(collect(options)).on('connection', setAside),
    redirects: () => listen(collect({ signingKey: undefined })),
  };
}

await serveHostile({ naive: [naive(createServer), naive(listenHttp2)] });
