import { checkArgument, type OptionRule } from '../options/options.ts';
import type { BodySource, IncomingCallback } from './request-body.ts';

/** The part of node:http's IncomingMessage that core needs, so that core needs no Node types. */
export interface NodeRequest extends NodeStream {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Set by Express and Connect, which remove the prefix of a mounted route from `url`. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly readableDidRead: boolean;
  readonly httpVersionMajor?: number | undefined;
  /** `server` exists on sockets that a Node server has accepted. */
  readonly socket?: unknown;
  /** Present on HTTP/2 requests. */
  readonly stream?: { once(event: 'finish', listener: () => void): unknown; close(): unknown } | undefined;
}

/** A readable Node stream. */
interface NodeStream {
  readonly destroyed: boolean;
  on(event: string, listener: (chunk: Uint8Array | string) => void): unknown;
  off(event: string, listener: (chunk: Uint8Array | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/**
 * Describes a node:http request for `receiveCallback()`.
 *
 * @param parsedBody The result of an earlier body parser, or the stream that other code made from the request, if any.
 * @throws {ConfigurationError} When `request` is not a node:http request.
 *
 * @example
 * const { reply } = await receiveCallback(incomingCallback(request, request.body), receiver);
 */
export function incomingCallback(request: NodeRequest, parsedBody?: unknown): IncomingCallback {
  checkArgument('incomingCallback()', 'request', request, NODE_REQUEST);
  const { headers } = request;
  return {
    method: request.method ?? '',
    url: request.originalUrl ?? request.url,
    // Node joins repeated headers with ', ', which no signature contains (threat A12). Bridges without a socket fill
    // `headers` only, never `rawHeaders` (threat A38).
    header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
    body: incomingBody(request, parsedBody),
    isClosing: () => isClosing(request),
  };
}

/**
 * Whether the server of this request has stopped listening. Its `close()` waits for all connections, and one that stays open
 * after an answer delays it for seconds.
 */
export function isClosing({
  socket,
  httpVersionMajor,
}: Pick<NodeRequest, 'socket' | 'httpVersionMajor'>): boolean {
  return httpVersionMajor !== 2 && Object(Object(socket).server).listening === false;
}

const NODE_REQUEST: OptionRule = [
  (request) => typeof Object(request).headers === 'object' && Object(request).headers !== null,
  'a node:http request',
];

function incomingBody(request: NodeRequest, parsedBody: unknown): IncomingCallback['body'] {
  // Other code reads the request into this stream: to decompress it, to limit it, or to keep its bytes.
  if (isStream(parsedBody)) return { state: 'unread', read: eventsOf(parsedBody, request) };
  // Unread bytes take precedence over a parsed body: Express 4's parser leaves `{}` where it parsed nothing.
  if (!request.readableDidRead) return { state: 'unread', read: eventsOf(request) };
  return parsedBody === undefined ? { state: 'consumed' } : { state: 'parsed', data: parsedBody };
}

/** Reads by events: an async iterator costs more than the verification and destroys the socket that the answer needs. */
function eventsOf(stream: NodeStream, request: NodeRequest | NodeStream = stream): BodySource {
  return ({ chunk, end, abort }) => {
    if (stream.destroyed) abort();
    stream.on('data', chunk);
    stream.on('end', end);
    stream.on('error', abort); // Any stream but the request throws if its error has no listener.
    stream.on('close', abort);
    stream.resume(); // Other middleware may have paused it.
    return () => {
      stream.off('data', chunk);
      stream.pause();
      closeStreamAfterAnswer(request);
    };
  };
}

function isStream(value: unknown): value is NodeStream {
  return typeof Object(value).pipe === 'function' && typeof Object(value).resume === 'function';
}

/** HTTP/2 has no `connection: close`: the stream of an abandoned body would stay open as long as its sender likes (threat A43). */
function closeStreamAfterAnswer({ httpVersionMajor, stream }: Partial<NodeRequest>): void {
  if (httpVersionMajor === 2) stream?.once('finish', () => stream.close());
}
