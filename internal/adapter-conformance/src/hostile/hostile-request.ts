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

/** What is named after it: a value and its verdict. */
export type Row<T> = readonly [name: string, value: T, verdict?: Verdict];

/** @param verdict of the rows that name no other. */
export function rows<T>(
  kind: string,
  verdict: Verdict,
  list: readonly Row<T>[],
  request: (value: T) => Pick<HostileRequest, 'message' | 'wire'>,
): readonly HostileRequest[] {
  return list.map(([name, value, own = verdict]) => ({ kind, name, verdict: own, ...request(value) }));
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

export function callback(request: Callback): Pick<HostileRequest, 'message' | 'wire'> {
  const bytes = callbackRequest(request);
  return { message: messageOf(bytes), wire: { bytes: [bytes] } };
}

export function redirect(query: string, method?: string): Pick<HostileRequest, 'message' | 'wire'> {
  const bytes = redirectRequest(query, method);
  return { message: messageOf(bytes), wire: { bytes: [bytes] } };
}

/** For HTTP/1.1 only. Text is latin1. */
export function wire(
  parts: readonly (string | Uint8Array)[],
  rest: Omit<Wire, 'bytes'> = {},
): { wire: Wire } {
  return {
    wire: {
      bytes: parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
      ...rest,
    },
  };
}

/** The head of a callback whose header lines may be written in any way. */
export function head(headers: Headers, lines: readonly string[] = []): Buffer {
  const whole = callbackHead(headers).toString('latin1');
  return Buffer.from(`${whole.slice(0, -2)}${lines.map((line) => `${line}\r\n`).join('')}\r\n`, 'latin1');
}
