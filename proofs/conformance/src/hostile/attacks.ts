import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Connection, Parts } from '../connection.ts';
import {
  CALLBACK_PATH,
  callbackHead,
  callbackRequest,
  chunkedCallbackRequest,
  headed,
  paddedBody,
  signature,
  TEXT,
  UNSIGNED_REQUEST,
} from '../http-request.ts';

/** What one client does, with what awaits and counts its next response. */
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
  /** Of every response; 0 if there are none. */
  status: number,
  clients: number,
  act: Act | Streams,
  /** If connections may stay open, or no response is due yet: the bytes or sockets that the server must have by then. */
  mayStay?: { readonly bytes?: number; readonly sockets?: number },
];

const HUGE = 30_000_000;
const SIGNED = { 'hmac-signature': signature() };
const nested = `${TEXT.slice(0, -2)},"x":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`;
const bomb = gzipSync(Buffer.alloc(40_000_000, ' '));
const wide = headed({ 'hmac-signature': undefined, x: 'x'.repeat(15_000) });
const bytes = [...Buffer.from(paddedBody(64 * 1024))].map((byte) => Uint8Array.of(byte));
const pieces = Buffer.concat(chunkedCallbackRequest(bytes).slice(0, -2));

/** A body that continues after the response. */
function huge(head: Uint8Array, part: string, isReadFirst = false): Act {
  return async (client, answer, answerMs) => {
    const answered = answer();
    // A client that is still writing when the server closes may lose the response, so it is given time to read it first.
    const first = isReadFirst ? [part, part] : [];
    await client.write(head, ...first);
    await Promise.race([answered, wait(answerMs, undefined, { ref: false })]);
    await client.writeUntilClosed(part, HUGE - first.length * part.length);
    await client.write('0\r\n\r\n');
    await answered;
    await client.closedByServer();
  };
}

const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
const chunked = { 'transfer-encoding': 'chunked' };

/** A request that is sent again after each response, on the same connection. */
function repeated(request: Uint8Array, times: number): Act {
  return async (client, answer) => {
    for (let sent = 0; sent < times; sent++) {
      await client.write(request);
      await answer();
    }
  };
}

const pipelined: Act = async (client, answer) => {
  const written = client.write(
    ...Array<Uint8Array>(30).fill(Buffer.concat(Array(100).fill(UNSIGNED_REQUEST))),
  );
  for (let got = 0; got < 3000; got++) await answer();
  await written;
};

/** The start of a request, which never continues. */
function started(...parts: Parts): Act {
  return (client) => client.write(...parts);
}

/** The same, until the server has given up. */
function abandoned(...parts: Parts): Act {
  return async (client, answer) => {
    await client.write(...parts);
    await answer();
    await client.closedByServer();
  };
}

const bombed = callbackRequest({ body: bomb, headers: { 'content-encoding': 'gzip' } });
const hugeHead = callbackHead({ 'content-length': String(HUGE + 5) });
const unsignedHead = callbackHead({ ...chunked, 'hmac-signature': undefined });
const halfHead = `POST ${CALLBACK_PATH} HTTP/1.1\r\nhost: x\r\nhmac-`;
const allPieces = { bytes: 12 * pieces.length };
const allSockets = { sockets: 400 };

export const ATTACKS: readonly Attack[] = [
  ['a body of 30 MB as declared', 413, 1, huge(hugeHead, 'x'.repeat(50_000))],
  ['a body of 30 MB in chunks', 413, 1, huge(callbackHead(chunked), chunk, true)],
  ['a body of 30 MB in chunks, without a signature', 401, 1, huge(unsignedHead, chunk)],
  ['40 MB in 40 KB of gzip', 413, 5, repeated(bombed, 1), {}],
  ['10,000 levels', 200, 20, repeated(callbackRequest({ body: nested }), 3), {}],
  ['15 KB of headers', 401, 20, repeated(wide, 75), {}],
  ['pipelined requests', 401, 4, pipelined, {}],
  ['bodies in one-byte pieces, unfinished', 0, 12, started(pieces), allPieces],
  ['declared bodies of one byte', 408, 100, abandoned(callbackHead({ 'content-length': '65536' }), '{')],
  ['chunked bodies of one byte', 408, 100, abandoned(callbackHead(chunked), '1\r\n{\r\n')],
  ['idle connections', 0, 400, started(), allSockets],
  ['connections with half a head', 0, 400, started(halfHead), allSockets],
  // Threat A43: a hundred streams on one connection, abandoned after the first byte of their bodies.
  ['streams left open', 408, 1, { count: 100, bytes: 1, headers: SIGNED }],
  ['unsigned streams left open', 401, 1, { count: 100, bytes: 1 }],
  // One on each connection: together they would fill its flow control window.
  ['streams of more than 64 KiB', 413, 100, { count: 1, bytes: 66_000, headers: SIGNED }],
  ['a stream of 30 MB', 413, 1, { count: 1, bytes: HUGE, headers: SIGNED }],
];
