import { freshCallbacks } from '../load/callbacks.ts';
import type { Timed } from '../load/in-concert.ts';
import { sendCallbacks } from '../load/sender.ts';
import { interleave, quantile } from '../measure/measure.ts';
import type { ContenderId } from './contender.ts';
import type { HostedContender } from './hosted-contender.ts';

/** `store`: called directly. `http`: through a server that verifies, as a sender of callbacks sees it. */
export type Way = 'store' | 'http';
export const WAYS: readonly Way[] = ['store', 'http'];

export interface Pace {
  readonly rounds: number;
  /** Callbacks of one slice. */
  readonly count: number;
  /** Callbacks under way at the same time. */
  readonly concurrency: number;
  /** Gives the order within each round; from 0 up to 1. */
  readonly random: () => number;
}

/** What one contender did in one slice. */
export interface Sample {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The samples of each contender, one for each round. */
export type Samples = Readonly<Record<Way, ReadonlyMap<ContenderId, readonly Sample[]>>>;

/**
 * Times the contenders side by side: every round runs each of them once in both ways, in a new random order, so that
 * whatever else the machine does meets all of them. Afterwards each is asked how many callbacks it holds.
 *
 * @throws when one holds fewer than it has acknowledged.
 */
export async function measure(
  contenders: readonly HostedContender[],
  { rounds, count, concurrency, random }: Pace,
): Promise<Samples> {
  const samples = {
    store: new Map<ContenderId, readonly Sample[]>(),
    http: new Map<ContenderId, readonly Sample[]>(),
  };
  const run = async (contender: HostedContender, way: Way, prefix: string): Promise<Sample> => {
    const timed =
      way === 'store'
        ? await contender.store(prefix, count, concurrency)
        : await sendCallbacks(contender.port, freshCallbacks(prefix, count), concurrency);
    return sampleOf(timed, count);
  };
  for (const contender of contenders) for (const way of WAYS) await run(contender, way, `warm-${way}`);
  const slices = contenders.flatMap((contender) => WAYS.map((way) => ({ contender, way })));
  const measured = await interleave(slices, rounds, random, ({ contender, way }, round) =>
    run(contender, way, `${way}-${round}`),
  );
  for (const [{ contender, way }, own] of measured) samples[way].set(contender.id, own);
  for (const contender of contenders) {
    const [kept, sent] = [await contender.count(), (rounds + 1) * count * WAYS.length];
    if (kept !== sent) throw new Error(`${contender.id} acknowledged ${sent} callbacks and holds ${kept}.`);
  }
  return samples;
}

function sampleOf({ seconds, spans }: Timed, count: number): Sample {
  const latencies = spans.map(({ begin, end }) => end - begin);
  return { perSecond: count / seconds, p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) };
}
