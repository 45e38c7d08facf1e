/**
 * `pnpm lab bench:latency`: the time from a callback's request to the commit of its effect, at 1, 100 and 500 callbacks per second,
 * in one process that receives and works, and in two, compared with graphile-worker and with a floor. Prints a table, writes
 * reports/bench-latency.json, and exits with 1 if a target is missed. The control, a worker that does not listen, must be slow.
 */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { freshCallbacks, type WireCallback } from '@payment-service/durability/load/callbacks.ts';
import { postgresEngine, sqliteEngine } from '@payment-service/durability/load/engines.ts';
import { databaseUrl, startWarmPostgres } from '@payment-service/durability/load/postgres.ts';
import { askProgram, startProgram, type Way } from '@payment-service/durability/load/program.ts';
import { sendCallback } from '@payment-service/durability/load/sender.ts';
import type { Child } from '@payment-service/durability/measure/child.ts';
import { interleave, monotonicMs, quantile } from '@payment-service/durability/measure/measure.ts';
import { atTheEnd, makeFolder, runBenchmark } from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';

const FULL = {
  rounds: 3,
  /** Callbacks before the first round, at 100 a second: enough that V8 has compiled the code of each contender. */
  warmUp: 1000,
  /** `callbacks` is their number in each round. */
  rates: [
    { perSecond: 1, callbacks: 10 },
    { perSecond: 100, callbacks: 200 },
    { perSecond: 500, callbacks: 1000 },
  ],
};
const SHORT: typeof FULL = { rounds: 1, warmUp: 1, rates: [{ perSecond: 100, callbacks: 5 }] };
/** A receiver and a worker, in one process or in two. */
const SETUPS: readonly (readonly [Way, processes: 1 | 2])[] = [
  ['pg', 1],
  ['pg', 2],
  ['Knex', 1],
  ['Knex', 2],
  ['SQLite', 1],
  ['graphile-worker', 1],
  ['graphile-worker', 2],
  ['floor', 1],
  ['floor', 2],
  ['pg, not listening', 2],
];
const TARGET_MS = 5;
/** Over the floor, in two processes at one callback a second, where a client would notice. */
const MAX_OVER_FLOOR = 1.3;
const QUIET = 'two processes, 1 a second';

interface Slice {
  readonly name: string;
  readonly port: number;
  readonly worker: Child;
  readonly rate: (typeof FULL.rates)[number];
}

export default function (): Promise<void> {
  return runBenchmark('bench-latency', { full: FULL, short: SHORT }, async (pace, isShort) => {
    const folder = await makeFolder();
    const server = await startWarmPostgres(isShort, { max_connections: '200' });
    const slices: Slice[] = [];
    for (const [index, [way, processes]] of SETUPS.entries()) {
      const database = `latency_${index}`;
      const isFile = way === 'SQLite';
      const { close } = await (isFile
        ? sqliteEngine(folder, database)
        : postgresEngine(server.url, database));
      if (isFile) atTheEnd(close);
      else await close();
      const at = isFile ? join(folder, `${database}.db`) : databaseUrl(server.url, database);
      const { port, worker } = await start(way, processes, at);
      const setup = `${way}, ${processes === 1 ? 'one process' : 'two processes'}`;
      for (const rate of pace.rates)
        slices.push({ name: `${setup}, ${rate.perSecond} a second`, port, worker, rate });
    }
    for (const [index, slice] of slices.entries())
      await latencies({ ...slice, rate: { perSecond: 100, callbacks: pace.warmUp } }, -index - 1);
    const samples = await interleave(slices, pace.rounds, Math.random, latencies);
    return { results: judgeLatency(new Map([...samples].map(([{ name }, own]) => [name, own.flat()]))) };
  });
}

async function start(way: Way, processes: number, at: string) {
  const hosts = Array.from({ length: processes }, () => startProgram());
  for (const host of hosts) atTheEnd(() => host.end());
  const [receiver, worker = receiver] = hosts as [Child, Child?];
  const port = await askProgram<number>(receiver, { kind: 'open', way, at, receives: true });
  if (worker !== receiver) await askProgram(worker, { kind: 'open', way, at, receives: false });
  await askProgram(worker, { kind: 'work' });
  return { port, worker };
}

/** From the moment when a callback was due to be sent to the commit of its effect, in ms, so earlier delays count too. */
async function latencies({ name, port, worker, rate }: Slice, round: number): Promise<number[]> {
  const callbacks = freshCallbacks(`${rate.perSecond}-${round}`, rate.callbacks);
  const references = callbacks.map((_, index) => `ORD-${rate.perSecond}-${round}-${index}`);
  await askProgram(worker, { kind: 'expect', references });
  const due = await send(port, callbacks, rate.perSecond);
  const over = setTimeout(60_000, undefined, { ref: false }).then(() => {
    throw new Error(`${name}: not all effects were committed after a minute.`);
  });
  const ends = await Promise.race([askProgram<number[]>(worker, { kind: 'settled', references }), over]);
  return ends.map((end, index) => end - (due[index] ?? Number.NaN));
}

/** @returns when each was due: at even intervals, whether or not earlier ones have been answered. */
async function send(port: number, callbacks: readonly WireCallback[], perSecond: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const begin = monotonicMs() + 20;
  const due = callbacks.map((_, index) => begin + (index * 1000) / perSecond);
  const sent: Promise<void>[] = [];
  for (const [index, callback] of callbacks.entries()) {
    const at = due[index] ?? 0;
    // A timer may be a millisecond late; a thread that sleeps is not.
    if (at - monotonicMs() > 3) await setTimeout(at - monotonicMs() - 2);
    await setImmediate();
    Atomics.wait(cell, 0, 0, Math.max(0, at - monotonicMs()));
    sent.push(sendCallback(port, callback, agent));
  }
  await Promise.all(sent);
  agent.destroy();
  return due;
}

/**
 * The median and 99th percentile of each. On `pg` the median must meet the target, and the control must miss it; the ratios to the
 * floor have a target at one callback a second in two processes.
 */
export function judgeLatency(all: ReadonlyMap<string, readonly number[]>): readonly Result[] {
  const overFloor = [...all].flatMap(([name, own]) => {
    const floor = all.get(name.replace(/^pg,/, 'floor,'));
    if (!name.startsWith('pg, ') || floor === undefined) return [];
    const over = quantile(own, 0.5) / quantile(floor, 0.5);
    const title = `p50: ${name}, over the floor`;
    return name.endsWith(QUIET)
      ? judge(title, 'ratio', over, 'at most', MAX_OVER_FLOOR)
      : told(title, 'ratio', over);
  });
  const judged = [...all].flatMap(([name, own]) => {
    if (own.length === 0) throw new Error(`Not measured: ${name}.`);
    const bound = name.startsWith('pg, not listening') ? 'above' : 'at most';
    const [p50, p99] = [quantile(own, 0.5), quantile(own, 0.99)];
    return [
      name.startsWith('pg,')
        ? judge(`p50: ${name}`, 'ms', p50, bound, TARGET_MS)
        : told(`p50: ${name}`, 'ms', p50),
      told(`p99: ${name}`, 'ms', p99),
    ];
  });
  return [...judged, ...overFloor];
}
