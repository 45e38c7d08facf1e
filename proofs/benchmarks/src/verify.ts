/** From the bytes of a body and its header to a verified event: core with each of its digests, compared with peers. */
import { figure, interleave, judge, range, ratio, spread, type Table } from '@payment-service/durability';
import { callbackBodies, SIZES, type Size } from './callback-bodies.ts';
import {
  type Contender,
  checkControls,
  floor,
  type Headers,
  type PublishedCore,
  paymentService,
  standardWebhooks,
  stripe,
} from './contenders.ts';
import { homeOf, importFrom } from './installed.ts';
import type { Part, Run } from './part.ts';

/** An upper bound for the time of one contender over that of another, both by name. */
interface Target {
  readonly atMost: number;
  readonly size: Size;
  readonly contender: string;
  readonly over: string;
}

/** docs/benchmarks.md says why these are possible. */
export const VERIFY_TARGETS: readonly Target[] = [
  { size: 'typical', contender: 'core', over: 'floor', atMost: 1.25 },
  { size: 'typical', contender: 'core', over: 'stripe', atMost: 0.77 },
  { size: 'typical', contender: 'core', over: 'standardwebhooks', atMost: 0.77 },
  { size: 'typical', contender: 'portable', over: 'standardwebhooks', atMost: 1 },
  { size: '60 KiB', contender: 'core', over: 'stripe', atMost: 1.1 },
];

const SIGNING_KEY = 'mK7pQ2vX9sLd4TzR8wYb3NcJ6hGf1EaU';
const ANOTHER_KEY = 'tF5uW0nB7yHq3ZkV9xGc2LmS8jDa4RpE';
const FULL = { sliceMs: 25, warmUpMs: 500, rounds: 100 };
const SHORT = { sliceMs: 1, warmUpMs: 1, rounds: 3 };

/** Nanoseconds of processor time per call, for every round, by contender. */
type Samples = ReadonlyMap<Contender, readonly number[]>;

export async function verify({ project, portable, isShort, rounds }: Run): Promise<Part> {
  const pace = { ...(isShort ? SHORT : FULL), ...(rounds && { rounds }) };
  const onNode = await loadCore(project);
  const anywhere = await loadCore(portable);
  const tables: Table[] = [];
  const results = [];
  for (const size of SIZES) {
    const bodies = callbackBodies(size, onNode);
    const contenders = contendersFor(size, SIGNING_KEY, onNode, anywhere);
    const strangers = contendersFor(size, ANOTHER_KEY, onNode, anywhere);
    const [first = Buffer.alloc(0)] = bodies;
    for (const [index, contender] of contenders.entries())
      checkControls(contender, strangers[index] ?? contender, first);
    const samples = await timeContenders([floor(SIGNING_KEY), ...contenders], bodies, pace);
    for (const { contender, over, atMost, ...target } of VERIFY_TARGETS) {
      if (target.size !== size) continue;
      const measured = ratio(samplesOf(contender, samples), samplesOf(over, samples));
      results.push(
        judge(`verify: ${size} body, ${contender} over ${over}`, 'ratio', measured, 'at most', atMost),
      );
    }
    tables.push(tableOf(`Verification of a ${size} body, ${first.length} bytes`, samples));
  }
  return { tables, results };
}

async function loadCore(project: string): Promise<PublishedCore> {
  const home = homeOf(project, 'core');
  const { createVerifier } = await importFrom<PublishedCore>(home, '@payment-service/core');
  const { signCallback, sampleCallback } = await importFrom<PublishedCore>(
    home,
    '@payment-service/core/testing',
  );
  const { digestName } = await importFrom<{ digestName: string }>(home, './dist/core.js');
  return { createVerifier, signCallback, sampleCallback, digestName };
}

function contendersFor(
  size: Size,
  signingKey: string,
  onNode: PublishedCore,
  anywhere: PublishedCore,
): readonly Contender[] {
  const two = [paymentService('core', signingKey, onNode), stripe(signingKey)];
  if (size !== 'typical') return two;
  return [...two, paymentService('portable', signingKey, anywhere), standardWebhooks(signingKey)];
}

interface Pace {
  readonly rounds: number;
  /** How long one contender runs within a round: long enough to include its own garbage collections. */
  readonly sliceMs: number;
  readonly warmUpMs: number;
}

interface Callback {
  readonly body: Buffer;
  readonly headers: Headers;
}

async function timeContenders(
  contenders: readonly Contender[],
  bodies: readonly Buffer[],
  { rounds, sliceMs, warmUpMs }: Pace,
): Promise<Samples> {
  const slices = new Map<Contender, () => number>();
  for (const contender of contenders) {
    const callbacks = bodies.map((body) => ({ body, headers: asReceived(contender.sign(body)) }));
    const passes = warmUp((count) => time(contender, callbacks, count), warmUpMs, sliceMs);
    slices.set(contender, () => time(contender, callbacks, passes));
  }
  return interleave(contenders, rounds, Math.random, async (contender) => {
    return (slices.get(contender)?.() ?? Number.NaN) / bodies.length;
  });
}

/** Runs until the time is up, and returns the number of passes over the bodies that fill a slice. */
function warmUp(time: (passes: number) => number, warmUpMs: number, sliceMs: number): number {
  let spent = 0;
  let pass = 0;
  while (spent < warmUpMs * 1e6) {
    pass = time(1);
    spent += pass;
  }
  return Math.max(1, Math.round((sliceMs * 1e6) / pass));
}

/** Nanoseconds of processor time per pass over the callbacks. */
function time(contender: Contender, callbacks: readonly Callback[], passes: number): number {
  const start = processorTime();
  for (let pass = 0; pass < passes; pass++)
    for (const { body, headers } of callbacks) keep(contender.verify(body, headers));
  return (processorTime() - start) / passes;
}

/**
 * The processor time of all threads of this process in nanoseconds, including garbage collection. On a shared machine, elapsed
 * time says more about the neighbours: in one run it spread a ratio from 1 to 20.
 */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/** Reads every result, so that no compiler can skip producing it. */
function keep(reference: unknown): void {
  if (typeof reference !== 'string') throw new Error('A genuine callback gave no reference.');
}

/** Strings as they come from a socket: flat, not the concatenations that a signer leaves. */
function asReceived(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value, 'latin1').toString('latin1')]),
  );
}

function samplesOf(name: string, samples: Samples): readonly number[] {
  const found = [...samples].find(([contender]) => contender.name === name)?.[1];
  if (found === undefined) throw new Error(`A target names ${name}, which was not measured.`);
  return found;
}

function tableOf(title: string, samples: Samples): Table {
  const rows = [...samples].map(([{ name, call }, own]) => {
    const overFloor = ratio(own, samplesOf('floor', samples));
    const callsPerSecond = Math.round(1e9 / spread(own).median);
    return [name, figure(overFloor.median), range(overFloor), figure(callsPerSecond), call];
  });
  return { title, head: ['', 'times the floor', 'p10 to p90', 'calls/s', ''], rows };
}
