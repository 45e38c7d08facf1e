import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { ExpressHandler } from '../src/index.ts';

type Request = Parameters<ExpressHandler>[0] & { body?: unknown };

/** Calls one handler after another, like every framework of this kind. An error ends the request with 500. */
export function nodeServer(...handlers: readonly ExpressHandler[]): Server {
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
