import { callbackHead, callbackRequest, type Headers, redirectRequest } from '../http-request.ts';

/**
 * What the sender saw, and whether a handler ran: `401`, `200 handled`, `200 401 200 handled twice`. `closed`: the connection
 * or stream ended without an answer.
 */
export type Verdict = string;

/** What is the same in HTTP/1.1 and HTTP/2: a method, a target, headers and a body. */
export interface Message {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Bytes that only HTTP/1.1 has. */
export interface Wire {
  /** Each is a write of its own. */
  readonly bytes: readonly Uint8Array[];
  /** How many answers to wait for. @default 1 */
  readonly answers?: number;
  /** Whether the sender ends its side afterwards. */
  readonly isFinished?: boolean;
}

/** One request that no genuine sender makes, or makes seldom, and the one verdict that every server gives. */
export interface HostileRequest {
  readonly kind: string;
  readonly name: string;
  readonly verdict: Verdict;
  readonly message?: Message;
  readonly wire?: Wire;
}

export const ACCEPTED: Verdict = '200 handled';
export const REFUSED: Verdict = '401';
export const REDIRECTED: Verdict = '303 handled';

type Sent = Pick<HostileRequest, 'message' | 'wire'>;

/** Requests of one kind: what is sent, by its name, under the verdict on it. */
export function rows<T>(
  kind: string,
  request: (value: T) => Sent,
  verdicts: Readonly<Record<Verdict, Readonly<Record<string, T>>>>,
): readonly HostileRequest[] {
  return Object.entries(verdicts).flatMap(([verdict, named]) =>
    Object.entries(named).map(([name, value]) => ({ kind, name, verdict, ...request(value) })),
  );
}

/** Strings by their own names. */
export function byName(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

/** The message of an HTTP/1.1 request: HTTP/2 gets the same. */
export function messageOf(request: Uint8Array): Message {
  const bytes = Buffer.from(request);
  const end = bytes.indexOf('\r\n\r\n');
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [method = '', target = ''] = first.split(' ');
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(': ');
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 2)]);
  }
  return { method, target, headers: Object.fromEntries(headers), body: bytes.subarray(end + 4) };
}

type Callback = NonNullable<Parameters<typeof callbackRequest>[0]>;

export function callback(request: Callback): Sent {
  const bytes = callbackRequest(request);
  return { message: messageOf(bytes), wire: { bytes: [bytes] } };
}

export function redirect(query: string, method?: string): Sent {
  const bytes = redirectRequest(query, method);
  return { message: messageOf(bytes), wire: { bytes: [bytes] } };
}

/** For HTTP/1.1 only. Strings are latin1. */
export function wire(
  parts: string | readonly (string | Uint8Array)[],
  rest: Omit<Wire, 'bytes'> = {},
): Sent & { readonly wire: Wire } {
  const bytes = [parts].flat().map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part));
  return { wire: { bytes, ...rest } };
}

/** The head of a callback whose header lines may be written in any way. */
export function head(headers: Headers, lines: readonly string[] = []): string {
  const whole = callbackHead(headers).toString('latin1');
  return `${whole.slice(0, -2)}${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
}
