import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { InboxConsole } from './console.ts';

/** A listener for `node:http`, Express, Koa and Fastify's hooks. It calls `next` for requests outside the console's path. */
export type NodeListener = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next?: () => unknown,
) => Promise<void>;

/**
 * The console for Node's servers, and for frameworks on them.
 *
 * @example
 * app.use(nodeListener(admin)); // Express
 * app.use((ctx, next) => listener(ctx.req, ctx.res, next)); // Koa
 * app.addHook('onRequest', (request, reply, done) => void listener(request.raw, reply.raw, done)); // Fastify
 */
export function nodeListener(console: InboxConsole): NodeListener {
  return async (incoming, outgoing, next) => {
    const target = targetOf(incoming);
    const path = target.replace(/\?.*/s, '');
    const isOurs = path === console.basePath || path.startsWith(`${console.basePath}/`);
    if (!isOurs && next !== undefined) {
      await next();
      return;
    }
    const request = requestOf(incoming, target);
    if (!isOurs || request === undefined) {
      outgoing.writeHead(isOurs ? 400 : 404, { 'content-type': 'text/plain; charset=utf-8' }).end();
      return;
    }
    const response = await console(request, incoming);
    outgoing.statusCode = response.status;
    outgoing.setHeaders(response.headers);
    // Rejects when the visitor leaves, which also ends the response.
    await pipeline(response.body ?? [], outgoing).catch(() => undefined);
  };
}

/** With the prefix that Express removes. */
function targetOf(incoming: IncomingMessage): string {
  const original: unknown = Reflect.get(incoming, 'originalUrl');
  return typeof original === 'string' ? original : (incoming.url ?? '/');
}

/** undefined for what a Request cannot represent, such as the method TRACE. */
function requestOf(incoming: IncomingMessage, target: string): Request | undefined {
  const { method = 'GET', headers, rawHeaders } = incoming;
  const url = URL.parse(`http://${headers.host ?? 'localhost'}${target}`);
  if (url === null || !['GET', 'HEAD', 'POST'].includes(method)) return undefined;
  const own = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]];
    if (!name.startsWith(':')) own.append(name, value);
  }
  const body = method === 'POST' ? bodyOf(incoming) : null;
  return new Request(url, { method, headers: own, body, duplex: 'half' } as RequestInit);
}

/** The unread body, or the form as parsed by the framework. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> | URLSearchParams {
  if (!incoming.readableEnded) return Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
  const parsed = Object.entries(Object(Reflect.get(incoming, 'body')));
  const fields = parsed.filter(([, value]) => typeof value === 'string');
  return new URLSearchParams(fields as [string, string][]);
}
