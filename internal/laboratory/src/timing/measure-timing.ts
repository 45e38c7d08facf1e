import { seededRandom } from '../history/seeded-random.ts';
import { shuffled } from '../measure/measure.ts';
import type { Contender } from './contenders.ts';
import { cropAbove, type Difference, pairedT, welch } from './welch.ts';

/** One run over one contender, in nanoseconds. */
export interface TimingRun {
  /** Of the second class from the first, over the means of blocks. */
  readonly classes: Difference;
  /** Of the first class from itself, over the means of the same blocks: what the program sees where nothing is. */
  readonly same: Difference;
  /** That of the first class from itself again, with every sample taken for independent. */
  readonly sameSingly: Difference;
}

/** The class of each group of a block. */
const GROUPS = [0, 0, 1] as const;
/** Inputs of each group, new in each block, and the calls of each: a block has a thousand samples of each group. */
const INPUTS = 50;
const CALLS = 20;
const WARM_UP_BLOCKS = 10;

/**
 * Times single calls in blocks. The inputs of a block are made and called in one random order, which the seed decides, so that
 * neither their place in memory nor what the machine does meanwhile depends on the class. The loop that measures does not know it.
 */
export function measureTiming(contender: Contender, samples: number, seed: number): TimingRun {
  const random = seededRandom(seed, 0);
  const taken = GROUPS.map(() => ({ means: [] as number[], singly: [] as number[] }));
  for (let block = -WARM_UP_BLOCKS; block < samples / (INPUTS * CALLS); block++) {
    const groups = GROUPS.flatMap((_, group) => new Array<number>(INPUTS).fill(group));
    const order = shuffled(groups, random.next);
    const calls = order.map((group) => contender.makeCall(random, GROUPS[group] ?? wrong()));
    const times = new Float64Array(calls.length * CALLS);
    let at = 0;
    for (let round = 0; round < CALLS; round++)
      for (const call of calls) {
        const started = performance.now();
        const isAccepted = call();
        times[at++] = (performance.now() - started) * 1e6;
        if (isAccepted) wrong();
      }
    if (block < 0) continue;
    const bound = cropAbove(times);
    taken.forEach(({ means, singly }, group) => {
      let [sum, kept] = [0, 0];
      times.forEach((time, index) => {
        if (time > bound || order[index % order.length] !== group) return;
        sum += time;
        kept++;
        singly.push(time);
      });
      means.push(sum / kept);
    });
  }
  const [one, same, other] = taken;
  if (!one || !same || !other) throw new Error('A group has no samples.');
  return {
    classes: pairedT(one.means, other.means),
    same: pairedT(one.means, same.means),
    sameSingly: welch(one.singly, same.singly),
  };
}

function wrong(): never {
  throw new Error('A wrong hash was accepted: nothing was measured.');
}
