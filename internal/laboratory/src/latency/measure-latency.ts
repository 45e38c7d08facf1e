import { Agent } from 'node:http';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { freshCallbacks, type WireCallback } from '../load/callbacks.ts';
import type { ProgramRequest, Way } from '../load/program-process.ts';
import { sendCallback } from '../load/sender.ts';
import { Child } from '../measure/child.ts';
import { interleave, monotonicMs } from '../measure/measure.ts';
import { atTheEnd } from '../measure/program.ts';

const PROGRAM = join(import.meta.dirname, '..', 'load', 'program-process.ts');

/** A receiver and a worker, in one process or in two. */
export interface Setup {
  readonly way: Way;
  readonly processes: 1 | 2;
  /** Its own database, or file. */
  readonly at: string;
}

export interface Rate {
  readonly perSecond: number;
  /** Of each round. */
  readonly callbacks: number;
}

export interface LatencyPace {
  readonly rounds: number;
  /** Callbacks before the first round, at 100 a second. */
  readonly warmUp: number;
  readonly rates: readonly Rate[];
}

/** The latencies of all rounds, in milliseconds, by name. */
export type Latencies = ReadonlyMap<string, readonly number[]>;

export function latencyName({ way, processes }: Setup, { perSecond }: Rate): string {
  return `${way}, ${processes === 1 ? 'one process' : 'two processes'}, ${perSecond} a second`;
}

/** From the moment when a callback was due to be sent to the commit of its effect, whatever came before it. */
export async function measureLatency(setups: readonly Setup[], pace: LatencyPace): Promise<Latencies> {
  const slices: { setup: Setup; port: number; worker: Child; rate: Rate }[] = [];
  for (const setup of setups) {
    const { way, at } = setup;
    const hosts = Array.from({ length: setup.processes }, () => new Child(PROGRAM));
    for (const host of hosts) atTheEnd(() => host.end());
    const [receiver, worker = receiver] = hosts as [Child, Child?];
    const port = await ask<number>(receiver, { kind: 'open', way, at, receives: true });
    if (worker !== receiver) await ask(worker, { kind: 'open', way, at, receives: false });
    await ask(worker, { kind: 'work' });
    slices.push(...pace.rates.map((rate) => ({ setup, port, worker, rate })));
  }
  const run = async (
    { setup, port, worker, rate }: (typeof slices)[number],
    round: number,
  ): Promise<number[]> => {
    const callbacks = freshCallbacks(`${rate.perSecond}-${round}`, rate.callbacks);
    const references = callbacks.map((_, index) => `ORD-${rate.perSecond}-${round}-${index}`);
    await ask(worker, { kind: 'expect', references });
    const due = await send(port, callbacks, rate.perSecond);
    const over = setTimeout(60_000, undefined, { ref: false }).then(() => {
      throw new Error(`${latencyName(setup, rate)}: not all effects were committed after a minute.`);
    });
    const ends = await Promise.race([ask<number[]>(worker, { kind: 'settled', references }), over]);
    return ends.map((end, index) => end - (due[index] ?? Number.NaN));
  };
  for (const slice of slices)
    await run({ ...slice, rate: { perSecond: 100, callbacks: pace.warmUp } }, -slices.indexOf(slice) - 1);
  const samples = await interleave(slices, pace.rounds, Math.random, run);
  return new Map([...samples].map(([{ setup, rate }, own]) => [latencyName(setup, rate), own.flat()]));
}

function ask<A>(host: Child, request: ProgramRequest): Promise<A> {
  return host.ask(request);
}

/** @returns when each was due: at even intervals, whether or not the earlier ones were answered. */
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
