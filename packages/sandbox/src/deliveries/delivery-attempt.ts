import manifest from '../../package.json' with { type: 'json' };
import { destinationProblem } from '../state/hosts.ts';
import type { BodyStart, DeliveryAttempt, HeaderPair } from '../state/records.ts';

/** The inputs of one attempt. */
export interface AttemptOptions {
  readonly sender: Sender;
  readonly allowedHosts: readonly string[];
  readonly timeoutMs: number;
}

type Outcome = Pick<DeliveryAttempt, 'status' | 'response' | 'error' | 'error_code'>;

const NO_ANSWER: Outcome = { status: null, response: null, error: null, error_code: null };

/** A request with its own headers; the transport adds others. */
export interface Message {
  /** @default 'POST' */
  readonly method?: 'GET' | 'POST' | undefined;
  readonly url: string;
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

/** The outcome of a message, with all headers as sent; null if nothing was sent. */
export type Exchanged = Omit<DeliveryAttempt, 'at' | 'sent'> & { readonly headers: HeaderPair[] | null };

/** Sends a message on its own connection. Failures are in the result; nothing is thrown. */
export async function exchange(
  { method = 'POST', url, headers: own, body }: Message,
  { sender, allowedHosts, timeoutMs }: AttemptOptions,
): Promise<Exchanged> {
  // Checked again at the time of sending: a state file may be older than the list of hosts.
  const problem = destinationProblem(url, allowedHosts);
  if (problem !== undefined) {
    const error = `not sent: the address ${problem}`;
    return { ...NO_ANSWER, ms: null, headers: null, error, error_code: 'NOT_SENT' };
  }
  const address = new URL(url);
  const bytes = new TextEncoder().encode(body);
  const headers: HeaderPair[] = [
    ...sender.framing(address, bytes),
    ['user-agent', `payment-service-sandbox/${manifest.version}`],
    ...own,
  ];
  const signal = AbortSignal.timeout(timeoutMs);
  const started = performance.now();
  let outcome = NO_ANSWER;
  try {
    const received = await sender.send({ method, url: address, headers, body: bytes, signal });
    const announced = received.headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1];
    const length = announced === undefined ? null : Number(announced);
    const response = { headers: received.headers, body: '', bytes: length, is_cut: true };
    outcome = { ...NO_ANSWER, status: received.status, response };
    const start = await startOf(received.body);
    outcome = { ...outcome, response: { ...response, ...start, bytes: start.bytes ?? length } };
  } catch (error) {
    outcome = signal.aborted
      ? { ...outcome, error: `no answer within ${timeoutMs} ms`, error_code: 'TIMEOUT' }
      : { ...outcome, ...reasonOf(error) };
  }
  return { ...outcome, ms: Math.round(performance.now() - started), headers };
}

/** fetch says "fetch failed" and keeps the reason in its cause, such as ECONNREFUSED. */
function reasonOf(error: unknown): { error: string; error_code: string | null } {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') {
    return { error: cause.code, error_code: cause.code };
  }
  return { error: cause instanceof Error ? cause.message : String(cause), error_code: null };
}

/** How many bytes of a body are kept. */
export const MAX_BODY_BYTES: number = 16 * 1024;

/** A request to be sent. */
interface Outgoing extends Pick<Message, 'method' | 'headers'> {
  readonly url: URL;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
}

interface Incoming {
  readonly status: number;
  readonly headers: HeaderPair[];
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Sends one request and follows no redirects, which would take the callback to an unchecked address. */
export interface Sender {
  /** The headers of the transport, in front of the caller's. */
  framing(url: URL, body: Uint8Array): HeaderPair[];
  /** Rejects if there is no response. */
  send(outgoing: Outgoing): Promise<Incoming>;
}

/**
 * The platform's sender: Node's HTTP client, which adds no headers, so that the record shows exactly what was sent. fetch adds
 * some (`sec-fetch-mode`, `accept-language`); it is used if it was passed in, and where there is no Node.
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
        // Such as after 101, which no callback requests.
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

/** The start of a body; the rest is not read. */
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
