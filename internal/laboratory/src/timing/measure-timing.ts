import { type SeededRandom, seededRandom } from '../history/seeded-random.ts';
import type { Contender } from './contenders.ts';
import { cropAbove, croppedWelch, type Welch, welch } from './welch.ts';

/** One run over one contender, in nanoseconds. */
export interface TimingRun {
  readonly cropped: Welch;
  /** With every interruption in it. */
  readonly whole: Welch;
}

/** Before the samples: it warms up, and a tenth of the samples sets the crop. */
const WARM_UP = 20_000;
/** Inputs of each class that are in use together, and the samples after which others replace them: where they lie in memory would
 * be a difference, too. */
const INPUTS = 64;
const RENEWED_AFTER = 4_000;

/**
 * Times single calls of two classes in a random order, which the seed decides, until each has its samples: what the machine does
 * meanwhile meets both.
 */
export function measureTiming(contender: Contender, samples: number, seed: number): TimingRun {
  const random = seededRandom(seed, 0);
  let calls: ReturnType<Contender['calls']>[] = [];
  let left = 0;
  const time = (index: 0 | 1): number => {
    if (left-- === 0) {
      calls = Array.from({ length: INPUTS }, () => contender.calls(random));
      left = RENEWED_AFTER;
    }
    const call = calls[random.between(0, INPUTS - 1)]?.[index] ?? wrong;
    const started = performance.now();
    const isAccepted = call();
    const elapsed = performance.now() - started;
    return isAccepted ? wrong() : elapsed * 1e6;
  };
  const calibration: number[] = [];
  for (let count = 0; count < WARM_UP + samples / 10; count++) {
    const elapsed = time(oneOf(random));
    if (count >= WARM_UP) calibration.push(elapsed);
  }
  const taken: [number[], number[]] = [[], []];
  while (Math.min(taken[0].length, taken[1].length) < samples) {
    const index = oneOf(random);
    const elapsed = time(index);
    if (taken[index].length < samples) taken[index].push(elapsed);
  }
  return { cropped: croppedWelch(...taken, cropAbove(calibration)), whole: welch(...taken) };
}

function oneOf(random: SeededRandom): 0 | 1 {
  return random.next() < 0.5 ? 0 : 1;
}

function wrong(): never {
  throw new Error('A wrong hash was accepted: nothing was measured.');
}
