/**
 * `pnpm lab cost`: the processor time and live heap that hostile inputs cost, compared with the decoding that any receiver must
 * do. Inputs come from a grammar with a fixed seed, in sizes that double. Prints a table, writes reports/cost.json, and exits
 * with 1 if a bound is missed. The controls must exceed the bounds: the quadratic query parser of an earlier version, and its
 * reader with a promise for each chunk of a body. `--short`: the largest size only, one round, and every eighth shape; `--sizes
 * 1` alone keeps all shapes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createCallbackReceiver, receiveCallback } from '@payment-service/core/receive';
import { interleave, quantile, ratio, type Spread } from '../measure/measure.ts';
import { runBenchmark } from '../measure/program.ts';
import { judge, told } from '../measure/results.ts';
import { figure, type Table, withRange } from '../measure/tables.ts';
import { CHANNELS, type Channel, type Input, quadraticQuery } from './channels.ts';
import { SIGNATURE, SIGNING_KEY } from './grammar.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** As a multiple of the floor. */
const BOUND = 1.5;
const MAX_HEAP = 4;
/**
 * Processor time of one sample; the number of sizes, each half the one above; bodies under way, and the sizes of their chunks.
 */
const FULL = { rounds: 7, sampleMs: 8, sizes: 4, bodies: 20, pieces: [1, 2, 7, 64, 1000, 64_000] };
const SHORT = { rounds: 1, sampleMs: 1, sizes: 1, bodies: 4, pieces: [1] };

interface Cost {
  readonly channel: string;
  readonly shape: string;
  readonly size: number;
  /** The ratio of our processor time to the floor's, within each round. */
  readonly ratio: Spread;
  readonly microseconds: number;
  /** What our result retains beyond the floor's, as a multiple of the input's size. */
  readonly heap: number;
}

export default function (): Promise<void> {
  return runBenchmark('cost', { full: FULL, short: SHORT }, async (pace, isShort) => {
    const costs: Cost[] = [];
    for (const channel of CHANNELS) costs.push(...(await costsOf(channel, pace, isShort)));
    const pieces = await costsOfPieces(pace.pieces, pace.bodies);
    const text = `?${'a&'.repeat(8000)}`;
    const control = await compare(
      () => quadraticQuery(text),
      () => new URLSearchParams(text).size,
      { text, bytes: Buffer.from(text) },
      pace,
    );
    const unfinished = Math.max(...pieces.map(({ own }) => own));
    const promises = pieces[0]?.control ?? Number.NaN;
    const results = [
      ...CHANNELS.flatMap(({ name }) => {
        const own = costs.filter(({ channel }) => channel === name);
        const dearest = own.reduce((a, b) => (a.ratio.median > b.ratio.median ? a : b));
        const largest = Math.max(...own.map(({ heap }) => heap));
        return [
          judge(`${name}: the dearest shape`, 'times the floor', dearest.ratio, 'at most', BOUND),
          judge(`${name}: live heap above the floor's`, 'times the input', largest, 'at most', MAX_HEAP),
        ];
      }),
      judge('unfinished body: live heap', 'times the input', unfinished, 'at most', MAX_HEAP),
      judge('control: the quadratic query', 'times the floor', control.ratio, 'above', BOUND),
      judge('control: a promise for each piece', 'times the input', promises, 'above', MAX_HEAP),
      told('shapes and sizes', 'inputs', costs.length),
    ];
    return { results, costs, pieces, tables: [costTable(costs), growthTable(costs), pieceTable(pieces)] };
  });
}

/** The most expensive shapes of each channel. */
function costTable(costs: readonly Cost[]): Table {
  const byChannel = Map.groupBy(costs, ({ channel }) => channel);
  return {
    title: 'The dearest inputs: processor time in times of the floor',
    head: ['', 'size', 'times the floor', 'microseconds', 'heap', 'shape'],
    rows: [...byChannel].flatMap(([name, own]) => {
      const dearest = own.sort((a, b) => b.ratio.median - a.ratio.median).slice(0, 6);
      return dearest.map(({ size, ratio, microseconds, heap, shape }) => {
        return [name, String(size), withRange(ratio), figure(microseconds), figure(heap), shape];
      });
    }),
  };
}

/** Doubling the input must not much more than double the time. */
function growthTable(costs: readonly Cost[]): Table {
  const growths = costs.flatMap(({ channel, shape, size, microseconds }) => {
    const half = costs.find((one) => one.channel === channel && one.shape === shape && one.size * 2 === size);
    return half === undefined ? [] : [{ channel, shape, size, growth: microseconds / half.microseconds }];
  });
  const steepest = growths.sort((a, b) => b.growth - a.growth).slice(0, 8);
  return {
    title: 'The steepest growth for twice the size',
    head: ['', 'from', 'to', 'times', 'shape'],
    rows: steepest.map(({ channel, shape, size, growth }) => {
      return [channel, String(size / 2), String(size), figure(growth), shape];
    }),
  };
}

function pieceTable(pieces: readonly PieceCost[]): Table {
  return {
    title: 'Unfinished bodies of 64,000 bytes: live heap in times of what has arrived',
    head: ['bytes in a piece', 'own', 'a promise for each piece', ''],
    rows: pieces.map(({ pieceBytes, own, control }) => {
      return [String(pieceBytes), figure(own), figure(control), ''];
    }),
  };
}

function liveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

type Run = (input: Input) => unknown;

/** Processor time of all threads in microseconds, including garbage collection. */
async function cpuOf(run: Run, input: Input, calls: number): Promise<number> {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call++) {
    const result = run(input);
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

/** Our code and the floor take turns, so that other load on the machine affects both. */
async function compare(
  own: Run,
  floor: Run,
  input: Input,
  { rounds, sampleMs }: Pick<typeof FULL, 'rounds' | 'sampleMs'>,
): Promise<{ ratio: Spread; microseconds: number }> {
  const first = Math.max(1, await cpuOf(floor, input, 2));
  const calls = Math.max(1, Math.ceil((sampleMs * 1000) / first));
  const sides = await interleave([own, floor], rounds, Math.random, (side) => cpuOf(side, input, calls));
  const [owns = [], floors = []] = sides.values();
  return { ratio: ratio(owns, floors), microseconds: quantile(owns, 0.5) };
}

/** How much more live heap our results take than those of the floor. */
async function keptBytes({ own, floor }: Channel, input: Input): Promise<number> {
  const kept: unknown[] = [];
  const before = liveBytes();
  for (let call = 0; call < 4; call++) kept.push(await own(input));
  const between = liveBytes();
  for (let call = 0; call < 4; call++) kept.push(await floor(input));
  return (2 * between - before - liveBytes()) / (kept.length / 2);
}

/** @param isShort only every eighth shape. */
async function costsOf(channel: Channel, pace: typeof FULL, isShort: boolean): Promise<readonly Cost[]> {
  const { name, shapes, largest } = channel;
  const costs: Cost[] = [];
  const chosen = Object.entries(shapes).filter((_, index) => !isShort || index % 8 === 0);
  // Compiles the code that all shapes share; otherwise the first one would pay for it.
  for (const [, make] of chosen.slice(0, 3)) {
    const text = make(largest);
    await compare(channel.own, channel.floor, { text, bytes: Buffer.from(text) }, pace);
  }
  for (const [shape, make] of chosen) {
    for (let left = pace.sizes - 1; left >= 0; left--) {
      const size = largest / 2 ** left;
      const text = make(size);
      const input = { text, bytes: Buffer.from(text) };
      const compared = await compare(channel.own, channel.floor, input, pace);
      const above = await keptBytes(channel, input);
      costs.push({ channel: name, shape, size, ...compared, heap: above / input.bytes.length });
    }
  }
  return costs;
}

type Feed = (piece: Uint8Array) => void;

/** Passes an unfinished body to receiveCallback(). */
function openBody(): Feed {
  let feed: Feed | undefined;
  const receiver = createCallbackReceiver({
    signingKey: SIGNING_KEY,
    onCallback: () => undefined,
    onRefused: () => undefined,
  });
  void receiveCallback(
    {
      method: 'POST',
      header: (name) => (name === 'hmac-signature' ? SIGNATURE : undefined),
      body: {
        state: 'unread',
        read: ({ chunk }) => {
          feed = chunk;
          return () => undefined;
        },
      },
    },
    receiver,
  );
  if (feed === undefined) throw new Error('The seam did not read the body.');
  return feed;
}

/** Control: the reader of the first version, with a promise for each chunk. */
function promiseForEachPiece(kept: unknown[]): () => Feed {
  return () => {
    let last: Promise<unknown> = Promise.resolve();
    return (piece) => {
      const before = last;
      last = before.then(() => [before, piece]);
      kept.push(last);
    };
  };
}

/** The live heap of unfinished bodies that arrive in small chunks, as a multiple of what has arrived. */
async function heapOf(open: () => Feed, pieceBytes: number, bodies: number): Promise<number> {
  const bytes = 64_000;
  const before = liveBytes();
  const feeds = Array.from({ length: bodies }, open);
  for (const feed of feeds)
    for (let sent = 0; sent < bytes; sent += pieceBytes) feed(new Uint8Array(pieceBytes));
  await new Promise(setImmediate);
  const after = liveBytes();
  return feeds.length === bodies ? (after - before) / (bodies * bytes) : Number.NaN;
}

interface PieceCost {
  readonly pieceBytes: number;
  readonly own: number;
  readonly control: number;
}

/** @param bodies under way at the same time. */
async function costsOfPieces(pieces: readonly number[], bodies: number): Promise<readonly PieceCost[]> {
  const costs: PieceCost[] = [];
  for (const pieceBytes of pieces) {
    const kept: unknown[] = [];
    const own = await heapOf(openBody, pieceBytes, bodies);
    const control = await heapOf(promiseForEachPiece(kept), pieceBytes, bodies);
    kept.length = 0;
    costs.push({ pieceBytes, own, control });
  }
  return costs;
}
