import type { Parts } from '../connection.ts';
import { callbackHead, type Headers, type Message } from '../http-request.ts';

/**
 * What the sender saw, and whether a handler ran: `401`, `200 handled`, `200 401 200 handled twice`. `closed`: the connection
 * or stream ended without a response.
 */
export type Verdict = string;

export const ACCEPTED: Verdict = '200 handled';
export const REFUSED: Verdict = '401';
export const REDIRECTED: Verdict = '303 handled';

/** A message, for both versions of HTTP; or what only HTTP/1.1 can send: writes, after which the sender may end its side. */
export type Sent = Message | Parts | { readonly finished: Parts };

/** Requests that no genuine sender makes, or only rarely, by their names, under the one verdict that every server gives. */
export type Verdicts = Readonly<Record<Verdict, Readonly<Record<string, Sent>>>>;

/** A row for each value. */
export function each(
  kind: string,
  values: readonly string[],
  sent: (value: string) => Sent,
): Readonly<Record<string, Sent>> {
  return Object.fromEntries(values.map((value) => [`${kind} ${value.slice(0, 40)}`, sent(value)]));
}

/** The head of a callback, with header lines in any form. */
export function head(headers: Headers, lines: readonly string[] = []): string {
  const whole = callbackHead(headers).toString('latin1');
  return `${whole.slice(0, -2)}${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
}
