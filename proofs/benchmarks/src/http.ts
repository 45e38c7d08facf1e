/**
 * Processor time of a request: each framework bare, with a hand-written check, at the limit, and with its adapter. Every server, and the load generator, runs in its own process.
 */
import { join } from 'node:path';
import {
  Child,
  figure,
  interleave,
  judge,
  type Result,
  ratio,
  spread,
  withRange,
} from '@payment-service/durability';
import { callbackBodies } from './callback-bodies.ts';
import { homeOf, importFrom } from './installed.ts';
import type { Load, LoadQuestion } from './load-generator.ts';
import type { Part, Run } from './part.ts';

type Testing = typeof import('@payment-service/core/testing');

export const SIGNING_KEY = 'mK7pQ2vX9sLd4TzR8wYb3NcJ6hGf1EaU';
const ANOTHER_KEY = 'tF5uW0nB7yHq3ZkV9xGc2LmS8jDa4RpE';

/** Every server's response to an accepted callback. */
export const ACCEPTED = { status: 'accepted' };

/** `bare`: a JSON body parser and no check. `by hand`: the parser and an HMAC over the five fields. `limit`: see limit.ts. */
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

/** The ratio of our processor time per request to that of the others. */
const OVER_LIMIT = 1.2;
const OVER_BY_HAND = 1;
const CONNECTIONS = 32;
// Every round uses new servers: V8 probably compiles the same code better or worse in each, since a ratio differs by up to 0.2.
// The slices are short, so that the load of a busy neighbour affects all servers equally.
const FULL = { rounds: 11, slices: 4, ms: 200, warmUpMs: 50, firstWarmUpMs: 1500 };
const SHORT = { rounds: 1, slices: 2, ms: 30, warmUpMs: 5, firstWarmUpMs: 5 };

interface Hosted {
  readonly way: Way;
  readonly worker: Child;
  readonly port: number;
}

interface Sample {
  readonly perSecond: number;
  /** The server's processor time per request, in microseconds. */
  readonly cpu: number;
  readonly user: number;
  readonly system: number;
  readonly generatorBusy: number;
}

export async function http({ project, isShort, only, rounds }: Run): Promise<Part> {
  const pace = { ...(isShort ? SHORT : FULL), ...(rounds && { rounds }) };
  const testing: Testing = await importFrom(homeOf(project, 'core'), '@payment-service/core/testing');
  const [genuine, forged] = [rawRequests(testing, SIGNING_KEY), rawRequests(testing, ANOTHER_KEY)];
  const results: Result[] = [];
  const speedRows: string[][] = [];
  const generator = new Child(join(import.meta.dirname, 'load-generator.ts'));
  try {
    for (const framework of FRAMEWORKS.filter((name) => name.startsWith(only))) {
      const speed = new Map<Way, Sample[]>(WAYS.map((way) => [way, []]));
      for (let round = 0; round < pace.rounds; round++) {
        const servers = await Promise.all(WAYS.map((way) => host(framework, way, project)));
        try {
          for (const { way, port } of servers)
            await checkServer(`${framework}, ${way}`, port, way === 'bare', genuine[0], forged[0]);
          const samples = await timeServers(servers, generator, genuine, pace);
          for (const [{ way }, own] of samples) speed.get(way)?.push(...own);
        } finally {
          await Promise.all(servers.map(({ worker }) => worker.end()));
        }
      }
      results.push(...judgeServers(framework, speed));
      speedRows.push(...WAYS.map((way) => speedRow(framework, way, speed)));
    }
  } finally {
    await generator.end();
  }
  const over = OTHERS.map((way) => `over ${way}`);
  const head = ['', 'requests/s', 'µs, user + system', ...over, 'generator busy'];
  return {
    results,
    tables: [{ title: `HTTP, ${CONNECTIONS} connections`, head, rows: speedRows }],
  };
}

async function host(framework: Framework, way: Way, project: string): Promise<Hosted> {
  const worker = new Child(join(import.meta.dirname, 'http-server.ts'), { args: [framework, way, project] });
  const { port } = await worker.ask<ServerState>({});
  return { way, worker, port };
}

/** Genuine callbacks signed with that key, as the bytes on the wire. */
export function rawRequests(testing: Testing, signingKey: string): readonly [string, ...string[]] {
  const [first = '', ...others] = callbackBodies('typical', testing).map((body) => {
    const text = body.toString('utf8');
    const signature = testing.signCallback({ signingKey, data: JSON.parse(text) });
    const length = `content-length: ${body.length}`;
    const start = ['POST /callbacks HTTP/1.1', 'host: 127.0.0.1', 'content-type: application/json'];
    const head = [...start, length, `hmac-signature: ${signature}`];
    return `${head.join('\r\n')}\r\n\r\n${text}`;
  });
  return [first, ...others];
}

/**
 * Proves that the timed work is a check: a server accepts a genuine callback, with the same response bytes as all others, and
 * refuses another key's signature. A bare server must accept both: otherwise the request is refused for another reason.
 */
export async function checkServer(
  name: string,
  port: number,
  isBare: boolean,
  genuine: string,
  forged: string,
): Promise<void> {
  const answer = await send(port, genuine);
  if (answer !== `200 ${JSON.stringify(ACCEPTED)}`)
    throw new Error(`${name}: a genuine callback was answered ${answer}.`);
  const [status] = (await send(port, forged)).split(' ');
  if (status !== (isBare ? '200' : '401'))
    throw new Error(`${name}: a signature of another key was answered ${status}.`);
}

async function send(port: number, request: string): Promise<string> {
  const [head = '', body = ''] = request.split('\r\n\r\n');
  const headers = [...head.matchAll(/^(content-type|hmac-signature): (.*)$/gm)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  );
  const response = await fetch(`http://127.0.0.1:${port}/callbacks`, { method: 'POST', headers, body });
  return `${response.status} ${await response.text()}`;
}

type Pace = typeof FULL;
type Samples = ReadonlyMap<Way, readonly Sample[]>;

/** @throws {Error} if a server has answered requests that its handler did not see. */
async function timeServers(
  servers: readonly Hosted[],
  generator: Child,
  requests: readonly string[],
  { slices, ms, warmUpMs, firstWarmUpMs }: Pace,
): Promise<ReadonlyMap<Hosted, readonly Sample[]>> {
  const run = async ({ way, worker, port }: Hosted, warmUp: number): Promise<Sample> => {
    const before = await worker.ask<ServerState>({});
    const shared = { port, requests, connections: CONNECTIONS };
    const load = await generator.ask<Load>({ ...shared, warmUpMs: warmUp, ms } satisfies LoadQuestion);
    const after = await worker.ask<ServerState>({});
    const handled = after.handled - before.handled;
    if (handled !== load.answered)
      throw new Error(`${way}: ${load.answered} requests were answered, and the handler saw ${handled}.`);
    const [user, system] = [(after.user - before.user) / handled, (after.system - before.system) / handled];
    return { perSecond: load.perSecond, cpu: user + system, user, system, generatorBusy: load.busy };
  };
  for (const server of servers) await run(server, firstWarmUpMs);
  return interleave(servers, slices, Math.random, (server) => run(server, warmUpMs));
}

/** One column of a way's samples. */
function column(samples: Samples, way: Way, key: keyof Sample): readonly number[] {
  return (samples.get(way) ?? []).map((sample) => sample[key]);
}

function judgeServers(framework: Framework, speed: Samples): readonly Result[] {
  const over = (way: Way) => ratio(column(speed, 'ours', 'cpu'), column(speed, way, 'cpu'));
  const name = `http: ${framework}, ours over`;
  return [
    judge(`${name} limit, processor time`, 'ratio', over('limit'), 'at most', OVER_LIMIT),
    judge(`${name} by hand, processor time`, 'ratio', over('by hand'), 'at most', OVER_BY_HAND),
  ];
}

const OTHERS = ['limit', 'by hand', 'bare'] as const;

function speedRow(framework: Framework, way: Way, samples: Samples): string[] {
  const median = (key: keyof Sample) => spread(column(samples, way, key)).median;
  const over = (other: Way) =>
    way === other ? '' : withRange(ratio(column(samples, way, 'cpu'), column(samples, other, 'cpu')));
  return [
    `${framework}, ${way}`,
    figure(median('perSecond')),
    `${median('user').toFixed(1)} + ${median('system').toFixed(1)}`,
    ...OTHERS.map(over),
    `${(median('generatorBusy') * 100).toFixed(0)} %`,
  ];
}
