import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Connection, Parts } from '../connection.ts';
import {
  callbackHead,
  callbackRequest,
  chunkedCallbackRequest,
  paddedBody,
  signature,
} from '../http-request.ts';

/** What one client does; `answer` awaits its next response and counts it. */
type Act = (client: Connection, answer: () => Promise<void>, answerMs: number) => Promise<unknown>;

/** For HTTP/2, what each client opens: streams whose bodies do not end after so many bytes. */
interface Streams {
  readonly count: number;
  readonly bytes: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One kind of heavy attack: with many bytes, many requests, or of long duration. */
export type Attack = readonly [
  name: string,
  /** The status of every response; 0 if there are none. */
  status: number,
  clients: number,
  act: Act | Streams,
  /** If connections may stay open, or no response is due yet: the bytes or sockets that the server must have by then. */
  mayStay?: { readonly bytes?: number; readonly sockets?: number },
];

const HUGE = 30_000_000;
const SIGNED = { 'hmac-signature': signature() };
const bomb = gzipSync(Buffer.alloc(40_000_000, ' '));
const bytes = [...Buffer.from(paddedBody(64 * 1024))].map((byte) => Uint8Array.of(byte));
const pieces = Buffer.concat(chunkedCallbackRequest(bytes).slice(0, -2));

/** A body that continues after the response. */
function huge(head: Uint8Array, part: string): Act {
  return async (client, answer, answerMs) => {
    const answered = answer();
    await client.write(head);
    await Promise.race([answered, wait(answerMs, undefined, { ref: false })]);
    await client.writeUntilClosed(part, HUGE);
    await client.write('0\r\n\r\n');
    await answered;
    await client.closedByServer();
  };
}

const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
const chunked = { 'transfer-encoding': 'chunked' };

/** The start of a request, which never continues. */
function started(...parts: Parts): Act {
  return (client) => client.write(...parts);
}

/** The same, until the server has answered, and closed the connection. */
function answered(...parts: Parts): Act {
  return async (client, answer) => {
    await client.write(...parts);
    await answer();
    await client.closedByServer();
  };
}

const bombed = callbackRequest({ body: bomb, headers: { 'content-encoding': 'gzip' } });
const hugeHead = callbackHead({ 'content-length': String(HUGE + 5) });
const unsignedHead = callbackHead({ ...chunked, 'hmac-signature': undefined });
const allPieces = { bytes: 12 * pieces.length };
const allSockets = { sockets: 400 };

export const ATTACKS: readonly Attack[] = [
  ['a body of 30 MB as declared', 413, 1, huge(hugeHead, 'x'.repeat(50_000))],
  ['a body of 30 MB in chunks, without a signature', 401, 1, huge(unsignedHead, chunk)],
  ['40 MB in 40 KB of gzip', 413, 5, answered(bombed), {}],
  ['bodies in one-byte pieces, unfinished', 0, 12, started(pieces), allPieces],
  ['declared bodies of one byte', 408, 100, answered(callbackHead({ 'content-length': '65536' }), '{')],
  ['idle connections', 0, 400, started(), allSockets],
  // Threat A43: a hundred streams on one connection, abandoned after the first byte of their bodies.
  ['streams left open', 408, 1, { count: 100, bytes: 1, headers: SIGNED }],
  ['unsigned streams left open', 401, 1, { count: 100, bytes: 1 }],
  // One on each connection: together they would fill its flow control window.
  ['streams of more than 64 KiB', 413, 100, { count: 1, bytes: 66_000, headers: SIGNED }],
];
