import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import type { Application, Reader } from '@payment-service/conformance/application';
import { type ExpressHandler, paymentCallbacks, paymentRedirects } from '../src/index.ts';

type Request = Parameters<ExpressHandler>[0] & { body?: unknown };

/** Calls one handler after another, like every framework of this kind. An error ends the request with 500. */
function nodeServer(...handlers: readonly ExpressHandler[]): Server {
  return createServer((incoming: IncomingMessage, response: ServerResponse) => {
    const request: Request = Object.assign(incoming, { originalUrl: incoming.url ?? '' });
    const queue = handlers.values();
    const next = (error?: unknown): void => {
      const handler = error === undefined ? queue.next().value : undefined;
      if (handler === undefined) response.writeHead(error === undefined ? 404 : 500).end();
      else handler(request, response, next);
    };
    next();
  });
}

const readers: Readonly<Record<Exclude<Reader, 'stream'>, (bytes: Buffer) => unknown>> = {
  json: (bytes) => JSON.parse(bytes.toString()),
  text: (bytes) => bytes.toString(),
  bytes: (bytes) => bytes,
  'nothing kept': () => undefined,
};

/** A body parser: it leaves bodies that were already parsed, and types other than JSON, unchanged. */
function parser(reader: Reader): ExpressHandler {
  return async (request, _response, next) => {
    const { headers } = request;
    if (reader === 'stream') {
      Object.assign(request, { body: request.pipe(createGunzip()) });
      return next();
    }
    const isMeant = reader === 'nothing kept' || headers['content-type'] === 'application/json';
    if (!isMeant || Reflect.get(request, '_body')) return next();
    const stream = headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request;
    Object.assign(request, { body: readers[reader](await buffer(stream)) });
    next();
  };
}

export const application: Application = {
  callbacks({ options, before, after, handle }) {
    return nodeServer(
      ...(before ? [parser(before)] : []),
      paymentCallbacks(options),
      ...(after ? [parser(after)] : []),
      async (request, response, next) => {
        const text = await handle?.(request.paymentCallback).catch(next);
        if (text !== undefined) response.writeHead(202, { 'content-type': 'text/plain' }).end(text);
      },
    );
  },
  redirects({ options, handle }) {
    return nodeServer(paymentRedirects(options), async (request, response, next) => {
      const text = await handle?.(request.paymentRedirect).catch(next);
      if (text !== undefined) response.writeHead(202, { 'content-type': 'text/plain' }).end(text);
    });
  },
};
