import {
  bytesOf,
  type CallbackRequest,
  callbackHead,
  callbackMessage,
  type Headers,
  type Message,
  redirectMessage,
} from '../http-request.ts';

/**
 * What the sender saw, and whether a handler ran: `401`, `200 handled`, `200 401 200 handled twice`. `closed`: the connection
 * or stream ended without a response.
 */
export type Verdict = string;

/** Bytes that only HTTP/1.1 can send. */
export interface Wire {
  /** Each is sent as a separate write. */
  readonly bytes: readonly Uint8Array[];
  /** How many responses to wait for. @default 1 */
  readonly answers?: number;
  /** Whether the sender ends its side afterwards. */
  readonly isFinished?: boolean;
}

/** A request that no genuine sender makes, or only rarely, and the one verdict that every server gives. */
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

/** What is sent, by its name, under the verdict on it. */
export type Verdicts<T> = Readonly<Record<Verdict, Readonly<Record<string, T>>>>;

/** Requests of one kind: what is sent, by its name, under the verdict on it. */
export function rows<T>(
  kind: string,
  request: (value: T) => Sent,
  verdicts: Verdicts<T>,
): readonly HostileRequest[] {
  return Object.entries(verdicts).flatMap(([verdict, named]) =>
    Object.entries(named).map(([name, value]) => ({ kind, name, verdict, ...request(value) })),
  );
}

/** The entries for each string, under a name that identifies it. */
export function each<T>(
  values: readonly string[],
  named: (value: string) => Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  return Object.assign({}, ...values.map(named));
}

const inBoth = (message: Message): Sent => ({ message, wire: { bytes: [bytesOf(message)] } });

export const callback = (request: CallbackRequest): Sent => inBoth(callbackMessage(request));

export const redirect = (query: string, method?: string): Sent => inBoth(redirectMessage(query, method));

/** For HTTP/1.1 only. Strings are latin1. */
export function wire(
  parts: string | readonly (string | Uint8Array)[],
  rest: Omit<Wire, 'bytes'> = {},
): Sent & { readonly wire: Wire } {
  const bytes = [parts].flat().map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part));
  return { wire: { bytes, ...rest } };
}

/** The head of a callback, with header lines in any form. */
export function head(headers: Headers, lines: readonly string[] = []): string {
  const whole = callbackHead(headers).toString('latin1');
  return `${whole.slice(0, -2)}${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
}
