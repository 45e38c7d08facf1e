import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createCallbackReceiver, receiveCallback } from '@payment-service/core/receive';
import { ratio, type Spread } from '../measure/measure.ts';
import type { Channel, Input } from './channels.ts';
import { SIGNATURE, SIGNING_KEY } from './grammar.ts';

export interface Cost {
  readonly channel: string;
  readonly shape: string;
  readonly size: number;
  /** Processor time of ours over the floor's, within each round. */
  readonly ratio: Spread;
  readonly microseconds: number;
  /** What the result keeps above what the floor's keeps, in times of the input's size. */
  readonly heap: number;
}

export interface Pace {
  readonly rounds: number;
  /** Processor time of one sample. */
  readonly sampleMs: number;
  /** How many sizes, from the largest; each is twice the one before. */
  readonly sizes: number;
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function liveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

type Run = (input: Input) => unknown;

/** Processor time in microseconds, of all threads: the collector's too. */
async function cpuOf(run: Run, input: Input, calls: number): Promise<number> {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call++) {
    const result = run(input);
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

/** Ours and the floor take turns, so that other load on the machine meets both. */
export async function compare(
  own: Run,
  floor: Run,
  input: Input,
  { rounds, sampleMs }: Omit<Pace, 'sizes'>,
): Promise<{ ratio: Spread; microseconds: number }> {
  const first = Math.max(1, await cpuOf(floor, input, 2));
  const calls = Math.max(1, Math.ceil((sampleMs * 1000) / first));
  const [owns, floors]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const sides = round % 2 === 0 ? ([own, floor] as const) : ([floor, own] as const);
    for (const side of sides) (side === own ? owns : floors).push(await cpuOf(side, input, calls));
  }
  return {
    ratio: ratio(owns, floors),
    microseconds: owns.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN,
  };
}

/** How much more live heap the results of ours take than those of the floor. */
async function keptBytes({ own, floor }: Channel, input: Input): Promise<number> {
  const kept: unknown[] = [];
  const before = liveBytes();
  for (let call = 0; call < 4; call++) kept.push(await own(input));
  const between = liveBytes();
  for (let call = 0; call < 4; call++) kept.push(await floor(input));
  return (2 * between - before - liveBytes()) / (kept.length / 2);
}

/** @param isShort every eighth shape only. */
export async function costsOf(channel: Channel, pace: Pace, isShort: boolean): Promise<readonly Cost[]> {
  const { name, shapes, largest } = channel;
  const costs: Cost[] = [];
  const chosen = Object.entries(shapes).filter((_, index) => !isShort || index % 8 === 0);
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

/** The seam with an unfinished body. */
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

/** Control: the reader of the first version, with a promise for each piece. */
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

/** The live heap of unfinished bodies in pieces of some bytes, in times of what has arrived. */
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

export interface PieceCost {
  readonly pieceBytes: number;
  readonly own: number;
  readonly control: number;
}

/** @param bodies under way at the same time. */
export async function costsOfPieces(
  pieces: readonly number[],
  bodies: number,
): Promise<readonly PieceCost[]> {
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
