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
import type { Ports } from './serve-hostile.ts';

/** What one client does, with what awaits and counts its next response. */
type Act = (client: Connection, answer: () => Promise<void>, answerMs: number) => Promise<unknown>;

/** One kind of heavy attack: with many bytes, many requests, or of long duration. */
export interface Attack {
  readonly name: string;
  readonly to?: keyof Ports;
  /** The status of every response; undefined if there are none. */
  readonly status?: number;
  /** If connections may stay open, or no response is due yet: the bytes or sockets that the server must have by then. */
  readonly mayStay?: { readonly bytes?: number; readonly sockets?: number };
  readonly clients: number;
  readonly act?: Act;
  /** For HTTP/2, what each client opens: so many streams whose bodies do not end after so many bytes. */
  readonly streams?: {
    readonly count: number;
    readonly bytes: number;
    readonly headers?: Readonly<Record<string, string>>;
  };
}

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

const declaredOne = abandoned(callbackHead({ 'content-length': '65536' }), '{');
const chunkedOne = abandoned(callbackHead(chunked), '1\r\n{\r\n');
const idle = { clients: 400, mayStay: { sockets: 400 } };

export const ATTACKS: readonly Attack[] = [
  {
    name: 'a body of 30 MB as declared',
    status: 413,
    clients: 1,
    act: huge(callbackHead({ 'content-length': String(HUGE + 5) }), 'x'.repeat(50_000)),
  },
  {
    name: 'a body of 30 MB in chunks',
    status: 413,
    clients: 1,
    act: huge(callbackHead(chunked), chunk, true),
  },
  {
    name: 'a body of 30 MB in chunks, without a signature',
    status: 401,
    clients: 1,
    act: huge(callbackHead({ ...chunked, 'hmac-signature': undefined }), chunk),
  },
  {
    name: '40 MB in 40 KB of gzip',
    status: 413,
    mayStay: {},
    clients: 5,
    act: repeated(callbackRequest({ body: bomb, headers: { 'content-encoding': 'gzip' } }), 1),
  },
  {
    name: '10,000 levels',
    status: 200,
    mayStay: {},
    clients: 20,
    act: repeated(callbackRequest({ body: nested }), 3),
  },
  { name: '15 KB of headers', status: 401, mayStay: {}, clients: 20, act: repeated(wide, 75) },
  { name: 'pipelined requests', status: 401, mayStay: {}, clients: 4, act: pipelined },
  {
    name: 'bodies in one-byte pieces, unfinished',
    mayStay: { bytes: 12 * pieces.length },
    clients: 12,
    act: started(pieces),
  },
  { name: 'declared bodies of one byte', to: 'stalled', status: 408, clients: 100, act: declaredOne },
  { name: 'chunked bodies of one byte', to: 'stalled', status: 408, clients: 100, act: chunkedOne },
  { name: 'idle connections', ...idle, act: started() },
  { name: 'half a head', ...idle, act: started(`POST ${CALLBACK_PATH} HTTP/1.1\r\nhost: x\r\nhmac-`) },
  // Threat A43: a hundred streams on one connection, abandoned after the first byte of their bodies.
  {
    name: 'streams left open',
    to: 'stalled',
    status: 408,
    clients: 1,
    streams: { count: 100, bytes: 1, headers: SIGNED },
  },
  {
    name: 'unsigned streams left open',
    to: 'stalled',
    status: 401,
    clients: 1,
    streams: { count: 100, bytes: 1 },
  },
  // One on each connection: together they would fill its flow control window.
  {
    name: 'streams of more than 64 KiB',
    status: 413,
    clients: 100,
    streams: { count: 1, bytes: 66_000, headers: SIGNED },
  },
  { name: 'a stream of 30 MB', status: 413, clients: 1, streams: { count: 1, bytes: HUGE, headers: SIGNED } },
];
