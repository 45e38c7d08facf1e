import { checkArgument, type OptionRule } from '../options/options.ts';
import type { BodySource, IncomingCallback } from './request-body.ts';

/** The part of node:http's IncomingMessage that core needs, so that core needs no Node types. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly readableDidRead: boolean;
  readonly destroyed: boolean;
  readonly httpVersionMajor?: number | undefined;
  /** Present on HTTP/2 requests. */
  readonly stream?: { once(event: 'finish', listener: () => void): unknown; close(): unknown } | undefined;
  on(event: string, listener: (chunk: Uint8Array | string) => void): unknown;
  off(event: string, listener: (chunk: Uint8Array | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/**
 * Describes a node:http request for `receiveCallback()`.
 *
 * @param parsedBody The result of a body parser that ran before, if any.
 * @throws {ConfigurationError} When `request` is not a request of node:http.
 *
 * @example
 * const { reply } = await receiveCallback(incomingCallback(request, request.body), receiver);
 */
export function incomingCallback(request: NodeRequest, parsedBody?: unknown): IncomingCallback {
  checkArgument('incomingCallback()', 'request', request, NODE_REQUEST);
  const { headers } = request;
  return {
    method: request.method ?? '',
    // Node joins repeated headers with ', ', which no signature contains (threat A12). Bridges without a socket fill
    // `headers` only, never `rawHeaders` (threat A38).
    header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
    body: incomingBody(request, parsedBody),
  };
}

const NODE_REQUEST: OptionRule = [
  (request) => typeof Object(request).headers === 'object' && Object(request).headers !== null,
  'a request of node:http',
];

function incomingBody(request: NodeRequest, parsedBody: unknown): IncomingCallback['body'] {
  // Unread bytes beat a parsed body: Express 4's parser leaves `{}` where it parsed nothing.
  if (!request.readableDidRead) return { state: 'unread', read: eventsOf(request) };
  return parsedBody === undefined ? { state: 'consumed' } : { state: 'parsed', data: parsedBody };
}

/** By events: an async iterator costs more than the verification, and destroys the socket that the answer needs. */
function eventsOf(request: NodeRequest): BodySource {
  return ({ chunk, end, abort }) => {
    if (request.destroyed) abort();
    request.on('data', chunk);
    request.on('end', end);
    request.on('close', abort); // Also after an error, which is emitted only to those who listen for it.
    request.resume(); // Other middleware may have paused it.
    return () => {
      request.off('data', chunk);
      request.pause();
      closeStreamAfterAnswer(request);
    };
  };
}

/** HTTP/2 has no `connection: close`: a stream whose body is given up would stay open as long as its sender likes (threat A43). */
function closeStreamAfterAnswer({ httpVersionMajor, stream }: NodeRequest): void {
  if (httpVersionMajor === 2) stream?.once('finish', () => stream.close());
}
