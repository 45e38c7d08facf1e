import { checkArgument, type OptionRule } from '../options/options.ts';
import { incomingCallback, isClosing, type NodeRequest } from './node.ts';
import type { BodySink, BodySource, IncomingBody, IncomingCallback } from './request-body.ts';

/** The part of a Hono context that core needs. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  /** With @hono/node-server, its `incoming` is the node:http request. */
  readonly env: unknown;
}

/**
 * @param from A web-standard `Request`, or the context of a Hono route.
 * @throws {ConfigurationError} When it is neither.
 */
export function requestOf(from: Request | HonoContext): Request {
  checkArgument('requestOf()', 'from', from, WEB_REQUEST);
  return rawOf(from);
}

const rawOf = (from: Request | HonoContext): Request => ('req' in from ? from.req.raw : from);
const WEB_REQUEST: OptionRule = [
  // Neither check reads more of a bridge's request than the adapter would.
  (from) => typeof rawOf(Object(from)).method === 'string' && 'bodyUsed' in rawOf(Object(from)),
  'a Request, or the context of a Hono route',
];

/**
 * Describes a web-standard `Request`, or that of a Hono context, for `receiveCallback()`.
 *
 * @throws {ConfigurationError} When `from` is neither.
 *
 * @example
 * const { reply } = await receiveCallback(incomingWebCallback(request), receiver);
 */
export function incomingWebCallback(from: Request | HonoContext): IncomingCallback {
  checkArgument('incomingWebCallback()', 'from', from, WEB_REQUEST);
  const request = rawOf(from);
  const incoming: unknown = Object('env' in from && from.env).incoming;
  if (isUntouched(request, incoming)) return incomingCallback(incoming);
  const { method, headers } = request;
  const read: BodySource = (sink) => readPieces(request, sink);
  const body: IncomingBody = request.bodyUsed ? { state: 'consumed' } : { state: 'unread', read };
  return {
    method,
    // Only for a framework's route: a plain Request may come from a worker that has no other route.
    url: 'env' in from ? request.url : undefined,
    header: (name) => headers.get(name),
    body,
    isClosing: () => [incoming, ...keptIn(request)].some((one) => isClosing(Object(one))),
  };
}

/** What Hono's bridge keeps in its request: the node:http request, and the platform's once it has created one. */
function keptIn(request: Request): unknown[] {
  return Object.getOwnPropertySymbols(request).map((symbol): unknown => Object(request)[symbol]);
}

/**
 * Whether `request` is still the one that Hono's bridge made from `incoming`, and neither has been turned into a stream.
 * Middleware may have replaced it, with a body that it limited, decompressed or wrote, or cloned it, so that two would read one
 * body. The bridge keeps `incoming` under a symbol, and also the platform's `Request`, once it has created one. `bodyUsed` is not
 * checked, since it creates one in @hono/node-server 1 (decision D54).
 */
function isUntouched(request: Request, incoming: unknown): incoming is NodeRequest {
  if (Object(incoming).readableDidRead !== false) return false;
  const kept = keptIn(request);
  return kept.includes(incoming) && !kept.some((value) => value instanceof Request);
}

/**
 * Uses a reader: not every runtime's stream is iterable, and an iterator waits for a stalled sender before it stops. Does not use
 * `arrayBuffer()`, although it is faster: a bridge may pass through a content-length that the body exceeds, and nothing could
 * stop the runtime from collecting all of it (threat A44).
 */
function readPieces(request: Request, { chunk, end, abort }: BodySink): () => void {
  const stream = request.body ?? new Blob([]).stream();
  if (stream.locked) {
    abort(); // Other code is reading it, so getReader() would throw.
    return abort; // Aborting a second time changes nothing.
  }
  const reader = stream.getReader();
  const readNext = (): void => {
    // No promise waits for the next one: a chain of promises would keep every piece of the body (threat A30).
    reader.read().then(({ done, value }) => {
      if (done) return end();
      chunk(value);
      readNext();
    }, abort);
  };
  readNext();
  return () => void reader.cancel().catch(() => {}); // Nothing waits for an abandoned stream.
}
