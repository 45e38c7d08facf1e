import type { BodyStart, HeaderPair } from '../state/records.ts';

/** How much of a body is kept. */
export const MAX_BODY_BYTES: number = 16 * 1024;

/** A request on its way out. */
interface Outgoing {
  /** @default 'POST' */
  readonly method?: 'GET' | 'POST' | undefined;
  readonly url: URL;
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
}

interface Incoming {
  readonly status: number;
  readonly headers: HeaderPair[];
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Sends one request and follows no redirect: that would carry the callback to an address that was not checked. */
export interface Sender {
  /** The headers that carry the message, which come before the caller's own. */
  framing(url: URL, body: Uint8Array): HeaderPair[];
  /** Rejects when no answer came. */
  send(outgoing: Outgoing): Promise<Incoming>;
}

/**
 * The sender of the platform: Node's own client, which adds nothing to the headers, so that the record is what went over
 * the wire. fetch adds headers of its own (`sec-fetch-mode`, `accept-language`); it sends where it is passed in, and where
 * there is no Node.
 */
export function createSender(fetch: typeof globalThis.fetch | undefined): Sender {
  const http = globalThis.process?.getBuiltinModule?.('node:http');
  const https = globalThis.process?.getBuiltinModule?.('node:https');
  if (fetch !== undefined || http === undefined || https === undefined) {
    return fetchSender(fetch ?? globalThis.fetch);
  }
  return {
    framing: ({ host }, { byteLength }) => [
      ['host', host],
      ['connection', 'close'],
      ['content-length', String(byteLength)],
    ],
    send: ({ method = 'POST', url, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const { request } = url.protocol === 'https:' ? https : http;
        const sent = request(url, { method, headers: headers.flat(), agent: false, signal });
        sent.once('response', (response) => {
          const { statusCode = 0, rawHeaders } = response;
          resolve({ status: statusCode, headers: pairsOf(rawHeaders), body: response });
        });
        sent.on('error', reject);
        // Such as after 101, which no callback asks for.
        sent.once('close', () => reject(new Error('the connection was closed without an answer')));
        sent.end(body);
      }),
  };
}

const fetchSender = (fetch: typeof globalThis.fetch): Sender => ({
  framing: () => [],
  send: async ({ method = 'POST', url, headers, body, signal }) => {
    const init = { method, headers: Object.fromEntries(headers), signal, redirect: 'manual' } as const;
    // fetch takes no body with GET, not even an empty one.
    const response = await fetch(url.href, method === 'GET' ? init : { ...init, body });
    return { status: response.status, headers: [...response.headers], body: response.body };
  },
});

const pairsOf = (raw: readonly string[]): HeaderPair[] =>
  Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index] ?? '', raw[2 * index + 1] ?? '']);

/** The start of a body; the rest is not read, however long it is. */
export async function startOf(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<BodyStart> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk.subarray(0, maxBytes - bytes), { stream: true });
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return { body: text, bytes: null, is_cut: true };
  }
  return { body: text + decoder.decode(), bytes, is_cut: false };
}
