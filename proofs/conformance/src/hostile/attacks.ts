import type { ClientHttp2Session } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { Connection } from '../connection.ts';
import { hangGuard } from '../hang-guard.ts';
import {
  CALLBACK_PATH,
  callbackRequest,
  chunkedCallbackRequest,
  headed,
  paddedBody,
  signature,
  TEXT,
  UNSIGNED_REQUEST,
} from '../http-request.ts';
import { head } from './hostile-request.ts';
import { openHttp2 } from './send.ts';
import { type ServerReport, STALLED_PATH } from './serve-hostile.ts';

/** The clients of an attack. They stay connected until the server has been inspected. */
export class Attackers {
  readonly #ports: ServerReport['ports'];
  readonly #clients: Connection[] = [];
  readonly #sessions: ClientHttp2Session[] = [];
  readonly statuses: Map<number, number> = new Map();

  /** How long a client waits for a response before it continues sending, since the control sends none. */
  readonly answerMs: number;

  constructor(ports: ServerReport['ports'], answerMs: number) {
    this.#ports = ports;
    this.answerMs = answerMs;
  }

  /** Opens a number of connections, which all do the same concurrently. */
  async connect(count: number, act: (client: Connection) => Promise<unknown>): Promise<void> {
    const clients: Connection[] = [];
    for (let opened = 0; opened < count; opened++) clients.push(await Connection.open(this.#ports.http1));
    this.#clients.push(...clients);
    await Promise.all(clients.map(act));
  }

  session(): ClientHttp2Session {
    if (this.#ports.http2 === undefined) throw new Error('The server does not speak HTTP/2.');
    const session = openHttp2(this.#ports.http2);
    this.#sessions.push(session);
    return session;
  }

  get sessions(): number {
    return this.#sessions.length;
  }

  async answer(client: Connection): Promise<void> {
    this.count((await client.answer()).status);
  }

  count(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  hangUp(): void {
    for (const client of this.#clients) client.hangUp();
    for (const session of this.#sessions) session.destroy();
  }
}

/** One kind of heavy attack: with many bytes, many requests, or of long duration. */
export interface Attack {
  readonly name: string;
  readonly protocol: 'HTTP/1.1' | 'HTTP/2';
  /** How many requests or connections. */
  readonly count: { readonly full: number; readonly short: number };
  /** The status of every response; undefined if there are none. */
  readonly status: number | undefined;
  /** If the connection may stay open, or no response is due yet: the bytes or sockets that the server must have by then. */
  readonly mayStay?: { readonly bytes?: number; readonly sockets?: boolean };
  readonly run: (attackers: Attackers, count: number, isFull: boolean) => Promise<unknown>;
}

const HUGE = { full: 100_000_000, short: 30_000_000 };
const CONNECTIONS = 20;
const nested = `${TEXT.slice(0, -2)},"x":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`;
const bomb = gzipSync(Buffer.alloc(40_000_000, ' '));
const wide = headed({ 'hmac-signature': undefined, x: 'x'.repeat(15_000) });
const pieces = Buffer.concat(
  chunkedCallbackRequest([...Buffer.from(paddedBody(64 * 1024))].map((byte) => Uint8Array.of(byte))).slice(
    0,
    -2,
  ),
);
const at = (path: string, request: string): string => request.replace(/ \S+/, ` ${path}`);

/** A body of 100 MB that continues after the response. */
function huge(name: string, headers: Readonly<Record<string, string | undefined>>, status: number): Attack {
  const chunk = 'x'.repeat(0x10000);
  const isChunked = headers['transfer-encoding'] === 'chunked';
  return {
    name: `bodies of 100 MB ${name}`,
    protocol: 'HTTP/1.1',
    count: { full: 20, short: 1 },
    status,
    run: (attackers, count, isFull) => {
      const bytes = isFull ? HUGE.full : HUGE.short;
      const length = isChunked ? {} : { 'content-length': String(bytes) };
      const part = isChunked ? `10000\r\n${chunk}\r\n` : chunk;
      return attackers.connect(count, async (client) => {
        const answered = attackers.answer(client);
        // A client that is still writing when the server closes may lose the response, so it is given time to read it first.
        const first = isChunked && status === 413 ? [part, part] : [];
        await client.write(head({ ...headers, ...length }), ...first);
        const late = new Promise((resolve) => setTimeout(resolve, attackers.answerMs).unref());
        await Promise.race([answered, late]);
        // Whole parts, so that the declared length is not exceeded.
        await client.writeUntilClosed(part, bytes - (bytes % part.length) - first.length * part.length);
        if (isChunked) await client.write('0\r\n\r\n');
        else await client.write('x'.repeat(bytes % part.length));
        await answered;
        await client.closedByServer();
      });
    },
  };
}

/** The same request repeatedly, on a few connections. */
function repeated(name: string, request: Uint8Array, status: number, count: Attack['count']): Attack {
  return {
    name,
    protocol: 'HTTP/1.1',
    count,
    status,
    mayStay: {},
    run: async (attackers, total) => {
      const ask = async (client: Connection): Promise<void> => {
        await client.write(request);
        await attackers.answer(client);
      };
      const each = total / CONNECTIONS;
      // A 413 ends its connection.
      const rounds = status === 413 ? Math.ceil(each) : 1;
      for (let round = 0; round < rounds; round++)
        await attackers.connect(Math.min(total, CONNECTIONS), async (client) => {
          for (let sent = 0; sent < each / rounds; sent++) await ask(client);
        });
    },
  };
}

/** Starts of requests that never continue: all of them get their responses, or are still waiting when the attack ends. */
function unfinished(
  name: string,
  parts: readonly (string | Uint8Array)[],
  kind: Pick<Attack, 'count' | 'status' | 'mayStay'>,
): Attack {
  return {
    name,
    protocol: 'HTTP/1.1',
    ...kind,
    run: (attackers, count) =>
      attackers.connect(count, async (client) => {
        await client.write(...parts);
        if (kind.status === undefined) return;
        await attackers.answer(client);
        await client.closedByServer();
      }),
  };
}

const STALLED = { count: { full: 1000, short: 100 }, status: 408 };
const IDLE = { count: { full: 1000, short: 400 }, status: undefined, mayStay: { sockets: true } };
const IN_PIECES = {
  count: { full: 50, short: 12 },
  status: undefined,
  mayStay: { bytes: pieces.length },
};

/** Opens a stream whose body does not end, and waits until the server has closed it. */
async function stream(
  attackers: Attackers,
  session: ClientHttp2Session,
  bytes: number,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const request = session.request({ ':method': 'POST', ...headers });
  request.on('error', () => undefined);
  // The server's end of the stream: the client's own end is kept open by what it still has to write.
  const closed = new Promise((resolve) => request.once('close', resolve).once('aborted', resolve));
  request.once('response', (answer) => attackers.count(Number(answer[':status'])));
  request.resume();
  for (let sent = 0; sent < bytes && !request.aborted && !request.closed; sent += 65_536) {
    const drained = Promise.race([closed, new Promise((resolve) => request.once('drain', resolve))]);
    if (!request.write(Buffer.alloc(Math.min(65_536, bytes - sent), 'x'))) await drained;
  }
  await hangGuard('a stream to close', closed);
}

/** Threat A43: a hundred streams on each of several connections, abandoned after the first byte of their bodies. */
function leftOpen(name: string, headers: Readonly<Record<string, string>>, status: number): Attack {
  return {
    name,
    protocol: 'HTTP/2',
    count: { full: 10, short: 1 },
    status,
    run: (attackers, count) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const session = attackers.session();
          await Promise.all(Array.from({ length: 100 }, () => stream(attackers, session, 1, headers)));
        }),
      ),
  };
}

/** One stream after another: together they would fill the flow control window of the connection. */
function tooLarge(name: string, count: Attack['count'], bytes: (isFull: boolean) => number): Attack {
  return {
    name,
    protocol: 'HTTP/2',
    count,
    status: 413,
    run: async (attackers, total, isFull) => {
      for (let sent = 0; sent < total; sent++)
        await stream(attackers, attackers.session(), bytes(isFull), SIGNED_STREAM);
    },
  };
}

const SIGNED_STREAM = { ':path': CALLBACK_PATH, 'hmac-signature': signature() };

export const ATTACKS: readonly Attack[] = [
  huge('as declared', {}, 413),
  huge('in chunks', { 'transfer-encoding': 'chunked' }, 413),
  huge(
    'in chunks, without a signature',
    { 'transfer-encoding': 'chunked', 'hmac-signature': undefined },
    401,
  ),
  repeated(
    '40 MB in 40 KB of gzip',
    callbackRequest({ body: bomb, headers: { 'content-encoding': 'gzip' } }),
    413,
    { full: 400, short: 5 },
  ),
  repeated('10,000 levels', callbackRequest({ body: nested }), 200, { full: 4000, short: 60 }),
  repeated('15 KB of headers', wide, 401, { full: 10_000, short: 1500 }),
  {
    name: 'pipelined requests',
    protocol: 'HTTP/1.1',
    count: { full: 100_000, short: 12_000 },
    status: 401,
    mayStay: {},
    run: (attackers, count) =>
      attackers.connect(4, async (client) => {
        const batch = Buffer.concat(Array.from({ length: 100 }, () => UNSIGNED_REQUEST));
        const answers = async (): Promise<void> => {
          for (let got = 0; got < count / 4; got++) await attackers.answer(client);
        };
        await Promise.all([client.write(...Array.from({ length: count / 400 }, () => batch)), answers()]);
      }),
  },
  unfinished('bodies in one-byte pieces, unfinished', [pieces], IN_PIECES),
  unfinished(
    'declared bodies of which one byte is sent',
    [at(STALLED_PATH, head({ 'content-length': '65536' })), '{'],
    STALLED,
  ),
  unfinished(
    'chunked bodies of which one byte is sent',
    [at(STALLED_PATH, head({ 'transfer-encoding': 'chunked' })), '1\r\n{\r\n'],
    STALLED,
  ),
  unfinished('idle connections', [], IDLE),
  unfinished('connections with half a head', [`POST ${STALLED_PATH} HTTP/1.1\r\nhost: x\r\nhmac-`], IDLE),
  leftOpen('streams left open', { ...SIGNED_STREAM, ':path': STALLED_PATH }, 408),
  leftOpen('unsigned streams left open', { ':path': STALLED_PATH }, 401),
  tooLarge('streams of more than 64 KiB', { full: 1000, short: 100 }, () => 66_000),
  tooLarge('streams of 100 MB', { full: 20, short: 1 }, (isFull) => (isFull ? HUGE.full : HUGE.short)),
];
