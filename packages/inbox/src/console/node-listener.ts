import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { checkArgument, type OptionRule } from '@payment-service/core/internal';
import type { InboxConsole } from './console.ts';

/** A listener for `node:http`, Express, Koa and Fastify's hooks. It calls `next` for requests outside the console's path. */
export type NodeListener = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  next?: () => unknown,
) => Promise<void>;

/**
 * The console for Node's servers, and for frameworks on them. It rejects only if `next` does: what no Request can represent is
 * answered with 400, and a failure with 500, which is passed to the console's `onError` (threat A62).
 *
 * @throws {ConfigurationError} When `console` is not the result of `inboxConsole()`, for example the inbox itself.
 *
 * @example
 * app.use(nodeListener(admin)); // Express
 * app.use((ctx, next) => listener(ctx.req, ctx.res, next)); // Koa
 * app.addHook('onRequest', (request, reply, done) => void listener(request.raw, reply.raw, done)); // Fastify
 */
export function nodeListener(console: InboxConsole): NodeListener {
  checkArgument('nodeListener()', 'console', console, CONSOLE);
  return async (incoming, outgoing, next) => {
    const isOurs = isBelow(console.basePath, targetOf(incoming));
    if (isOurs || next === undefined) return respond(console, incoming, outgoing, isOurs);
    await next();
  };
}

const CONSOLE: OptionRule = [
  (console) => typeof console === 'function' && 'basePath' in console,
  'the result of inboxConsole(), as in nodeListener(inboxConsole({ inbox, … }))',
];

async function respond(
  console: InboxConsole,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  isOurs: boolean,
): Promise<void> {
  try {
    const request = isOurs ? requestOf(incoming, targetOf(incoming)) : undefined;
    if (request === undefined) return refuse(outgoing, isOurs ? 400 : 404);
    const response = await console(request, incoming);
    outgoing.statusCode = response.status;
    outgoing.setHeaders(response.headers);
    // To keep the connection, Node would receive the rest of the body and throw it away. HTTP/2 has no such header.
    if (!incoming.complete && incoming.httpVersionMajor === 1) outgoing.setHeader('connection', 'close');
    await pipeline(response.body ?? [], outgoing);
  } catch (error) {
    // A visitor who leaves is not a failure.
    if (outgoing.destroyed && VISITOR_LEFT.test(Object(error).code)) return;
    await console.reportError(error);
    if (!outgoing.headersSent) refuse(outgoing, 500);
  }
}

const VISITOR_LEFT = /^ERR_STREAM_(?:PREMATURE_CLOSE|DESTROYED|UNABLE_TO_PIPE)$/;

function refuse(outgoing: ServerResponse, status: 400 | 404 | 500): void {
  outgoing.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end();
}

/** With the prefix that Express removes. */
function targetOf(incoming: IncomingMessage): string {
  const original: unknown = Reflect.get(incoming, 'originalUrl');
  return typeof original === 'string' ? original : (incoming.url ?? '/');
}

/** The path as sent. */
const pathOf = (target: string): string => target.replace(/\?.*/s, '');

/** In any reading of the target: as sent, and without dot segments, backslashes or an origin, as a URL removes them. */
function isBelow(basePath: string, target: string): boolean {
  const parsed = URL.parse(target.startsWith('/') ? `http://localhost${target}` : target, 'http://localhost');
  const readings = [pathOf(target), parsed?.pathname ?? ''];
  return readings.some((path) => path === basePath || path.startsWith(`${basePath}/`));
}

/**
 * undefined for what a Request cannot represent, such as the method TRACE, and for an address that has a second reading: the
 * merchant's guards in front of the console read the target as sent (threat A64).
 */
function requestOf(incoming: IncomingMessage, target: string): Request | undefined {
  const { method = 'GET', headers, rawHeaders } = incoming;
  const host = headers.host || 'localhost';
  const url = /[/?#\\@\s]/.test(host) ? null : URL.parse(`http://${host}${target}`);
  if (url?.pathname !== pathOf(target) || !['GET', 'HEAD', 'POST'].includes(method)) return undefined;
  const body = method === 'POST' ? bodyOf(incoming) : null;
  try {
    const own = new Headers();
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const [name = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]];
      if (!name.startsWith(':')) own.append(name, value);
    }
    return new Request(url, { method, headers: own, body, duplex: 'half' } as RequestInit);
  } catch {
    return undefined; // Such as a header with a control character, which a lenient parser lets through.
  }
}

/**
 * The unread body, or the form as parsed by the framework. Nothing is read before the console asks for it, and the connection
 * stays open for the answer when the console stops reading.
 */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> | URLSearchParams {
  if (!incoming.readableEnded) return ReadableStream.from(incoming.iterator({ destroyOnReturn: false }));
  const parsed = Object.entries(Object(Reflect.get(incoming, 'body')));
  const fields = parsed.filter(([, value]) => typeof value === 'string');
  return new URLSearchParams(fields as [string, string][]);
}
