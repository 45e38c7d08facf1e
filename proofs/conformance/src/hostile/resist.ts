import { type ClientHttp2Session, connect } from 'node:http2';
import { setTimeout as wait } from 'node:timers/promises';
import { Connection } from '../connection.ts';
import { hangGuard } from '../hang-guard.ts';
import { CALLBACK_PATH, callbackRequest } from '../http-request.ts';
import type { Attack } from './attacks.ts';
import type { HostileHost } from './hostile-host.ts';

/** The bound for the live heap during an attack and after it. */
const MAX_GROWTH_BYTES = 20_000_000;

/**
 * The bound for the live heap once the chunks of unfinished bodies are processed: one word for each of 786,432 is more (threat
 * A30).
 */
const MAX_HELD_BYTES = 5_000_000;

/** What one attack did to one server. */
export interface Resisted {
  /** Why the attack ended before all of it was sent and answered. */
  readonly failure: string | undefined;
  /** The statuses of the responses, each once. */
  readonly statuses: readonly number[];
  readonly brokenBounds: readonly string[];
}

/**
 * @param patienceSeconds how long the responses may take in an attack after which connections end, since the control never
 * sends some of them.
 */
export async function resist(
  host: HostileHost,
  attack: Attack,
  patienceSeconds: number,
): Promise<Resisted | undefined> {
  const { ports } = await host.report();
  const [, status, , act, mayStay] = attack;
  const isHttp2 = typeof act === 'object';
  const port = (isHttp2 ? ports.http2 : ports.http1)?.[status === 408 ? 'stalled' : 'callbacks'];
  if (port === undefined) return undefined;
  for (let sent = 0; sent < 20; sent++) await genuine(ports.http1.callbacks);
  await host.until(({ sockets, streams }) => sockets + streams === 0, 10);
  const before = await host.report('heap');

  const clients: (Connection | ClientHttp2Session)[] = [];
  const statuses = new Set<number>();
  let failure: string | undefined;
  let isOver = false;
  const attacked = run(attack, port, clients, (status) => statuses.add(status), (patienceSeconds * 1000) / 6)
    .catch((error: unknown) => {
      failure = String(error);
    })
    .finally(() => {
      isOver = true;
    });
  // An attack that accumulates memory continues until it is complete or has broken the bound, so that a slow machine does not
  // save the control.
  const end = performance.now() + (mayStay === undefined ? patienceSeconds : 200) * 1000;
  let heap = 0;
  while (!isOver && performance.now() < end && heap - before.heapBytes <= MAX_GROWTH_BYTES) {
    heap = Math.max(heap, (await host.report('heap')).heapBytes);
    await Promise.race([attacked, wait(100)]);
  }
  const own = isHttp2 ? clients.length : 0;
  const answered = await host.until(
    ({ sockets, streams, bytesRead }) => {
      if (mayStay === undefined) return streams === 0 && sockets <= own;
      return bytesRead - before.bytesRead >= (mayStay.bytes ?? 0) && sockets >= (mayStay.sockets ?? 0);
    },
    Math.min(patienceSeconds, 60),
  );
  let { heapBytes: held } = await host.report('heap');
  heap = Math.max(heap, held);
  for (let last = Number.POSITIVE_INFINITY; held < last - 500_000; ) {
    last = held;
    held = (await host.report('heap')).heapBytes;
  }
  // Before the clients hang up, which ends everything that is still under way.
  const early = failure;
  for (const client of clients) client instanceof Connection ? client.hangUp() : client.destroy();
  const after = await host.until(({ sockets, streams }) => sockets + streams === 0, 10);
  const isAccepted = (await genuine(ports.http1.callbacks)) === 200;
  const isHealthy = isAccepted && (await host.report()).handled === after.handled + 1;
  const grown = heap - before.heapBytes;
  const kept = mayStay?.bytes === undefined ? 0 : held - before.heapBytes;
  const sockets = Math.max(after.sockets, mayStay === undefined ? answered.sockets - own : 0);
  const bounds: readonly (readonly [isBroken: boolean, bound: string])[] = [
    [grown > MAX_GROWTH_BYTES, `${Math.round(grown / 1e6)} MB more live heap`],
    [kept > MAX_HELD_BYTES, `${Math.round(kept / 1e6)} MB held for processed pieces`],
    [sockets > 0, `${sockets} sockets left`],
    [answered.streams > 0, `${answered.streams} streams left`],
    [!isHealthy, 'a genuine callback was not accepted afterwards'],
  ];
  const brokenBounds = bounds.flatMap(([isBroken, bound]) => (isBroken ? [bound] : []));
  return { failure: early, statuses: [...statuses], brokenBounds };
}

export function openHttp2(port: number): ClientHttp2Session {
  return connect(`http://127.0.0.1:${port}`).on('error', () => undefined);
}

async function genuine(port: number): Promise<number> {
  const client = await Connection.open(port);
  const { status } = await client.ask(callbackRequest());
  client.hangUp();
  return status;
}

/** Adds the clients of the attack to `clients`; they stay connected until the server has been inspected. */
async function run(
  [, , count, act]: Attack,
  port: number,
  clients: (Connection | ClientHttp2Session)[],
  counted: (status: number) => void,
  answerMs: number,
): Promise<void> {
  const acts: (() => Promise<unknown>)[] = [];
  for (let opened = 0; opened < count; opened++) {
    if (typeof act === 'object') {
      const session = openHttp2(port);
      clients.push(session);
      for (let open = 0; open < act.count; open++) acts.push(() => stream(session, act, counted));
    } else {
      const client = await Connection.open(port);
      clients.push(client);
      acts.push(async () => act(client, async () => counted((await client.answer()).status), answerMs));
    }
  }
  await Promise.all(acts.map((one) => one()));
}

/** Opens a stream whose body does not end, and waits until the server has closed it. */
async function stream(
  session: ClientHttp2Session,
  { bytes, headers }: Exclude<Attack[3], (...all: never) => unknown>,
  counted: (status: number) => void,
): Promise<void> {
  const request = session.request({ ':method': 'POST', ':path': CALLBACK_PATH, ...headers });
  request.on('error', () => undefined).resume();
  request.once('response', (answer) => counted(Number(answer[':status'])));
  // The server's end of the stream: the client's own end is kept open by what it still has to write.
  const closed = new Promise((resolve) => request.once('close', resolve).once('aborted', resolve));
  for (let sent = 0; sent < bytes && !request.aborted && !request.closed; sent += 65_536) {
    const drained = Promise.race([closed, new Promise((resolve) => request.once('drain', resolve))]);
    if (!request.write(Buffer.alloc(Math.min(65_536, bytes - sent), 'x'))) await drained;
  }
  await hangGuard('a stream to close', closed);
}
