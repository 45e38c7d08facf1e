import type { IncomingCallback } from './receive-callback.ts';

/** What is needed of node:http's IncomingMessage, so that core needs no Node types. */
export interface NodeRequest extends AsyncIterable<Uint8Array | string> {
  readonly method?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly readableDidRead: boolean;
  iterator?(options: { destroyOnReturn: boolean }): AsyncIterator<Uint8Array | string>;
}

/**
 * Describes a node:http request for `receiveCallback()`.
 *
 * @param parsedBody what a body parser mounted before has left, if anything.
 *
 * @example
 * const received = await receiveCallback(incomingCallback(request, request.body), receiver);
 */
export function incomingCallback(request: NodeRequest, parsedBody?: unknown): IncomingCallback {
  return {
    method: request.method ?? '',
    headers: headerPairs(request.rawHeaders),
    body: incomingBody(request, parsedBody),
  };
}

function incomingBody(request: NodeRequest, parsedBody: unknown): IncomingCallback['body'] {
  // Unread bytes beat a parsed body: Express 4's parser leaves `{}` where it parsed nothing.
  if (!request.readableDidRead) return { state: 'unread', stream: withoutDestroy(request) };
  return parsedBody === undefined ? { state: 'consumed' } : { state: 'parsed', data: parsedBody };
}

/** Giving up early on the plain iterator would destroy the socket, and no answer could be sent on it. */
function withoutDestroy(request: NodeRequest): AsyncIterable<Uint8Array | string> {
  return {
    [Symbol.asyncIterator]: () =>
      request.iterator?.({ destroyOnReturn: false }) ?? request[Symbol.asyncIterator](),
  };
}

/** node:http joins repeated headers in `headers`; `rawHeaders` keeps them apart (threat A12). */
function* headerPairs(rawHeaders: readonly string[]): Generator<readonly [string, string]> {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    yield [rawHeaders[index] ?? '', rawHeaders[index + 1] ?? ''];
  }
}
