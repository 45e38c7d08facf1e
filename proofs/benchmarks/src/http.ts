/**
 * Processor time of a request: each framework bare, with a hand-written check, and with its adapter. Every server runs in its
 * own process, and the load comes from this one.
 */
import { Agent } from 'node:http';
import { join } from 'node:path';
import {
  Child,
  figure,
  interleave,
  judge,
  quantile,
  type Result,
  ratio,
  spread,
  withRange,
} from '@payment-service/durability';
import { freshCallbacks, type WireCallback } from '@payment-service/durability/load/callbacks.ts';
import { post, sendCallbacks } from '@payment-service/durability/load/sender.ts';
import type { Part, Run } from './part.ts';

/**
 * `bare`: a JSON body parser and no check. `by hand`: the parser and an HMAC over the five fields. `limit`: the bytes, `JSON.parse`
 * and that HMAC over prepared pads, with the framework's own parser left out.
 */
export const WAYS = ['bare', 'by hand', 'limit', 'ours'] as const;
export type Way = (typeof WAYS)[number];

export const FRAMEWORKS = ['express', 'koa', 'fastify', 'hono'] as const;
export type Framework = (typeof FRAMEWORKS)[number];

/** What a server reports about itself. */
export interface ServerState {
  readonly port: number;
  /** How often the handler has run. */
  readonly handled: number;
  /** Processor time of the process, in microseconds. */
  readonly user: number;
  readonly system: number;
}

/** The ratio of our processor time per request to that of a hand-written check. */
const OVER_BY_HAND = 1;
/** A user has one process, in which V8 may have compiled the code badly: 9 of 10 must stay below. */
const OVER_LIMIT = 1.25;
const CONNECTIONS = 32;
// Every round uses new servers: V8 probably compiles the same code better or worse in each, since a ratio differs by up to 0.2.
// The slices are short, so that the load of a busy neighbour affects all servers equally.
const FULL = { rounds: 21, slices: 4, count: 4000, warmUp: 20_000 };
const SHORT = { rounds: 1, slices: 2, count: 50, warmUp: 10 };

interface Hosted {
  readonly way: Way;
  readonly worker: Child;
  readonly port: number;
}

/** The server's processor time per request, in microseconds. */
interface Sample {
  readonly cpu: number;
  readonly user: number;
  readonly system: number;
}

export async function http({ project, isShort, only, rounds }: Run): Promise<Part> {
  const pace = { ...(isShort ? SHORT : FULL), ...(rounds && { rounds }) };
  const results: Result[] = [];
  const rows: string[][] = [];
  for (const framework of FRAMEWORKS.filter((name) => name.startsWith(only))) {
    const samples = new Map(WAYS.map((way): [Way, Sample[]] => [way, []]));
    for (let round = 0; round < pace.rounds; round++) {
      const servers = await Promise.all(WAYS.map((way) => host(framework, way, project)));
      try {
        for (const { way, port } of servers) await checkServer(`${framework}, ${way}`, port, way === 'bare');
        for (const [{ way }, own] of await timeServers(servers, pace)) samples.get(way)?.push(...own);
      } finally {
        await Promise.all(servers.map(({ worker }) => worker.end()));
      }
    }
    const column = (way: Way, key: keyof Sample) => (samples.get(way) ?? []).map((sample) => sample[key]);
    const over = (way: Way, other: Way) => ratio(column(way, 'cpu'), column(other, 'cpu'));
    const name = `http: ${framework}, ours over by hand, processor time`;
    results.push(judge(name, 'ratio', over('ours', 'by hand'), 'at most', OVER_BY_HAND));
    // Of each process: the median of its slices.
    const processes = Array.from({ length: pace.rounds }, (_, round) => {
      const part = (way: Way) => column(way, 'cpu').slice(round * pace.slices, (round + 1) * pace.slices);
      return spread(part('ours')).median / spread(part('limit')).median;
    });
    const worst = `http: ${framework}, ours over the limit, processor time, 9 of 10 processes`;
    results.push(judge(worst, 'ratio', quantile(processes, 0.9), 'at most', OVER_LIMIT));
    for (const way of WAYS) {
      const [user, system] = [column(way, 'user'), column(way, 'system')].map((own) => spread(own).median);
      const others = (['limit', 'by hand', 'bare'] as const).map((other) =>
        way === other ? '' : withRange(over(way, other)),
      );
      rows.push([`${framework}, ${way}`, `${figure(user ?? 0)} + ${figure(system ?? 0)}`, ...others, '']);
    }
  }
  const head = ['', 'µs, user + system', 'over limit', 'over by hand', 'over bare', ''];
  return { results, tables: [{ title: `HTTP, ${CONNECTIONS} connections`, head, rows }] };
}

async function host(framework: Framework, way: Way, project: string): Promise<Hosted> {
  const worker = new Child(join(import.meta.dirname, 'http-server.ts'), { args: [framework, way, project] });
  const { port } = await worker.ask<ServerState>({});
  return { way, worker, port };
}

/**
 * Proves that the timed work is a check: a server accepts a genuine callback, and refuses a forged one. A bare server must
 * accept both: otherwise the request is refused for another reason.
 */
export async function checkServer(name: string, port: number, isBare: boolean): Promise<void> {
  const [genuine, forged] = freshCallbacks('control', 2) as [WireCallback, WireCallback];
  const agent = new Agent();
  const send = async (callback: WireCallback) =>
    (await post(`http://127.0.0.1:${port}/callbacks`, callback, agent)).status;
  const answered = [await send(genuine), await send({ ...genuine, signature: forged.signature })];
  if (answered.join() !== (isBare ? '200,200' : '200,401'))
    throw new Error(`${name}: a genuine and a forged callback were answered ${answered.join(' and ')}.`);
}

/** @throws {Error} if a server has answered requests that its handler did not see. */
async function timeServers(
  servers: readonly Hosted[],
  { slices, count, warmUp }: typeof FULL,
): Promise<ReadonlyMap<Hosted, readonly Sample[]>> {
  const callbacks = freshCallbacks('http', 64);
  const run = async ({ way, worker, port }: Hosted, requests: number): Promise<Sample> => {
    const before = await worker.ask<ServerState>({});
    const sent = Array.from({ length: requests }, (_, at) => callbacks[at % 64] as WireCallback);
    await sendCallbacks(port, sent, CONNECTIONS);
    const after = await worker.ask<ServerState>({});
    const handled = after.handled - before.handled;
    if (handled !== requests)
      throw new Error(`${way}: ${requests} requests were answered, and the handler saw ${handled}.`);
    const [user, system] = [(after.user - before.user) / handled, (after.system - before.system) / handled];
    return { cpu: user + system, user, system };
  };
  for (const server of servers) await run(server, warmUp);
  return interleave(servers, slices, Math.random, (server) => run(server, count));
}
