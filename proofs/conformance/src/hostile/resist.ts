import { callbackRequest } from '../http-request.ts';
import { ATTACKS, type Attack, Attackers } from './attacks.ts';
import { HostileHost, type HostileServer } from './hostile-host.ts';
import { sendHttp1 } from './send.ts';

/** The bound for the live heap during an attack and after it. */
export const MAX_GROWTH_BYTES = 20_000_000;

/**
 * The bound for the live heap once the chunks of unfinished bodies are processed: one word for each of 786,432 is more (threat
 * A30).
 */
const MAX_HELD_BYTES = 5_000_000;

/** What one attack did to one server. */
export interface Resisted {
  readonly attack: string;
  /** Why the attack ended before all of it was sent and answered. */
  readonly failure: string | undefined;
  readonly protocol: Attack['protocol'];
  readonly answers: number;
  /** Responses with a status other than the attack's. */
  readonly otherAnswers: number;
  /** The maximum growth of the live heap while the attack was under way. */
  readonly growthBytes: number;
  /** The live heap that unfinished bodies still take once all their chunks are processed. */
  readonly heldBytes: number;
  /** Resident memory, which depends on the system and the garbage collector. */
  readonly residentGrowthBytes: number;
  /**
   * Sockets that the server still had once every response was sent; if connections may stay open, once the clients had gone.
   */
  readonly socketsLeft: number;
  readonly streamsLeft: number;
  readonly bytesRead: number;
  /** Whether a genuine callback, sent afterwards, was accepted. */
  readonly isHealthy: boolean;
}

/** The control: a receiver without core's reader. */
export const NAIVE: HostileServer = { name: 'naive', program: new URL('naive-server.ts', import.meta.url) };

/**
 * Every heavy attack on one server, or those of `attacks`.
 *
 * @param options.patienceSeconds how long the responses may take in an attack after which connections end, since the control
 * never sends some of them.
 */
export async function resistAttacks(
  server: HostileServer,
  {
    isFull,
    patienceSeconds,
    attacks = ATTACKS,
  }: {
    readonly isFull: boolean;
    readonly patienceSeconds: number;
    readonly attacks?: readonly Attack[];
  },
): Promise<readonly Resisted[]> {
  const resisted: Resisted[] = [];
  // A separate process for each attack on the control, which keeps what it has received.
  const isShared = server !== NAIVE;
  let host: HostileHost | undefined;
  try {
    for (const attack of attacks) {
      host ??= HostileHost.start(server, true);
      const { ports } = await host.report();
      if (attack.protocol === 'HTTP/2' && ports.http2 === undefined) continue;
      resisted.push(await resist(host, attack, isFull, patienceSeconds));
      if (!isShared) {
        await host.end();
        host = undefined;
      }
    }
    return resisted;
  } finally {
    await host?.end();
  }
}

async function resist(
  host: HostileHost,
  attack: Attack,
  isFull: boolean,
  patienceSeconds: number,
): Promise<Resisted> {
  const { ports } = await host.report();
  const genuine = (): Promise<string> => sendHttp1(ports.http1, { bytes: [callbackRequest()] });
  for (let sent = 0; sent < 20; sent++) await genuine();
  await host.until(({ sockets, streams }) => sockets + streams === 0, 10);
  const before = await host.report('heap');
  const count = attack.count[isFull ? 'full' : 'short'];
  const attackers = new Attackers(ports, (patienceSeconds * 1000) / 6);
  let failure: string | undefined;
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  // An attack that accumulates memory continues until it is complete or has broken the bound, so that a slow machine does not
  // save the control.
  const end = performance.now() + (attack.mayStay === undefined ? patienceSeconds : 200) * 1000;
  const attacked = attack.run(attackers, count, isFull).then(over, (error: unknown) => {
    failure = String(error);
    over();
  });
  let [heap, resident] = [0, 0];
  while (!isOver && performance.now() < end && heap - before.heapBytes <= MAX_GROWTH_BYTES) {
    const report = await host.report('heap');
    heap = Math.max(heap, report.heapBytes);
    resident = Math.max(resident, report.residentBytes);
    await Promise.race([attacked, new Promise((resolve) => setTimeout(resolve, 100))]);
  }
  const { mayStay } = attack;
  const own = attack.protocol === 'HTTP/2' ? attackers.sessions : 0;
  const answered = await host.until(
    ({ sockets, streams, bytesRead }) => {
      if (mayStay === undefined) return streams === 0 && sockets <= own;
      const { bytes = 0, sockets: areHeld = false } = mayStay;
      return bytesRead - before.bytesRead >= bytes * count && (!areHeld || sockets >= count);
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
  attackers.hangUp();
  const after = await host.until(({ sockets, streams }) => sockets + streams === 0, 10);
  const { handled } = after;
  const status = await genuine();
  const counted = [...attackers.statuses];
  return {
    attack: attack.name,
    failure: early,
    protocol: attack.protocol,
    answers: counted.reduce((sum, [, count]) => sum + count, 0),
    otherAnswers: counted.reduce((sum, [one, count]) => sum + (one === attack.status ? 0 : count), 0),
    growthBytes: heap - before.heapBytes,
    heldBytes: mayStay?.bytes === undefined ? 0 : held - before.heapBytes,
    residentGrowthBytes: resident - before.residentBytes,
    socketsLeft: Math.max(after.sockets, mayStay !== undefined ? 0 : answered.sockets - own),
    streamsLeft: answered.streams,
    bytesRead: answered.bytesRead - before.bytesRead,
    isHealthy: status === '200' && (await host.report()).handled === handled + 1,
  };
}

/** The bounds that an attack broke. */
export function brokenBounds({
  failure,
  growthBytes,
  heldBytes,
  socketsLeft,
  streamsLeft,
  isHealthy,
}: Resisted): readonly string[] {
  return [
    ...(failure === undefined ? [] : [`the attack ended early: ${failure}`]),
    ...(growthBytes > MAX_GROWTH_BYTES ? [`${Math.round(growthBytes / 1e6)} MB more live heap`] : []),
    ...(heldBytes > MAX_HELD_BYTES ? [`${Math.round(heldBytes / 1e6)} MB held for processed pieces`] : []),
    ...(socketsLeft > 0 ? [`${socketsLeft} sockets left`] : []),
    ...(streamsLeft > 0 ? [`${streamsLeft} streams left`] : []),
    ...(isHealthy ? [] : ['a genuine callback was not accepted afterwards']),
  ];
}
