/**
 * `pnpm lab timing [--samples N] [--runs N] [--seed N] [--short] [--report path]`: times single comparisons and verifications
 * of two classes of wrong hashes, and tests with a t over blocks of samples whether their means differ: 4.5 or more is a leak
 * (dudect's bound). Four of five runs must stay below it. A timer that shows nothing proves nothing: the controls, among them
 * `===`, end at the first difference, and each of their runs must be above 10. If one is not, the run is void: it judges nothing,
 * and exits with 1.
 *
 * Run it on an otherwise idle machine. With --short it only shows that it works.
 */
import { setImmediate } from 'node:timers/promises';
import { seededRandom } from '@payment-service/durability/history/seeded-random.ts';
import { interleave, shuffled } from '@payment-service/durability/measure/measure.ts';
import { runBenchmark } from '@payment-service/durability/measure/program.ts';
import { judge, type Result } from '@payment-service/durability/measure/results.ts';
import { CONTENDERS, type Contender } from './contenders.ts';
import { cropAbove, type Difference, pairedT } from './paired-t.ts';

const PACES = {
  full: { samples: 1_000_000, runs: 5, seed: 1 },
  short: { samples: 3000, runs: 1, seed: 1 },
};

const LEAK = 4.5;
const SEEN = 10;

/** The inputs of each class, new in each block, and the calls of each input: a block has a thousand samples of each class. */
const INPUTS = 50;
const CALLS = 20;
const WARM_UP_BLOCKS = 10;

export default function (): Promise<void> {
  return runBenchmark('timing', PACES, async ({ samples, runs, seed }) => {
    const random = seededRandom(seed, 1);
    const measured = await interleave(CONTENDERS, runs, random.next, async (one, run) => {
      await setImmediate(); // So that Ctrl-C ends the run.
      return measureTiming(one, samples, seed + run);
    });
    const figures = CONTENDERS.map((one) => ({ ...one, runs: measured.get(one) ?? [] }));
    const rows = figures.map(({ name, classes, runs: all }) => {
      const of = (key: keyof Difference): string => all.map((one) => one[key].toFixed(1)).join(', ');
      return [name, of('t'), of('difference'), classes.join(' | ')];
    });
    const head = ['', 't', 'difference, ns', 'classes'];
    const { isVoid, results } = judgeTiming(figures);
    const title = isVoid ? 'Each run. VOID: a control shows nothing' : 'Each run';
    return { results, isVoid, tables: [{ title, head, rows }], figures };
  });
}

/**
 * Times single calls in blocks. The inputs of a block are made and called in one random order, which the seed decides, so that
 * neither their place in memory nor other activity of the machine depends on the class. The measuring loop does not know the
 * class.
 */
function measureTiming(contender: Contender, samples: number, seed: number): Difference {
  const random = seededRandom(seed, 0);
  const means: readonly [number[], number[]] = [[], []];
  for (let block = -WARM_UP_BLOCKS; block < samples / (INPUTS * CALLS); block++) {
    const indices = Array.from({ length: 2 * INPUTS }, (_, at) => (at % 2) as 0 | 1);
    const order = shuffled(indices, random.next);
    const calls = order.map((index) => contender.makeCall(random, index));
    const times = new Float64Array(calls.length * CALLS);
    let at = 0;
    for (let round = 0; round < CALLS; round++)
      for (const call of calls) {
        const started = performance.now();
        const isAccepted = call();
        times[at++] = (performance.now() - started) * 1e6;
        if (isAccepted) throw new Error('A wrong hash was accepted: nothing was measured.');
      }
    if (block < 0) continue;
    const bound = cropAbove(times);
    means.forEach((taken, own) => {
      const kept = times.filter((time, index) => time <= bound && order[index % order.length] === own);
      taken.push(kept.reduce((sum, time) => sum + time, 0) / kept.length);
    });
  }
  return pairedT(...means);
}

type Measured = Pick<Contender, 'name' | 'isControl'> & { readonly runs: readonly Difference[] };

/** Judges the targets, of which four of five runs must show nothing, only if every control of the run held. */
export function judgeTiming(measured: readonly Measured[]): { isVoid: boolean; results: readonly Result[] } {
  const judged = measured.map(({ name, isControl, runs }) => {
    const all = runs.map(({ t }) => Math.abs(t));
    const below = all.filter((t) => t < LEAK).length;
    return isControl
      ? judge(`${name}: least |t|`, '', Math.min(...all), 'above', SEEN)
      : judge(`${name}: runs below ${LEAK}`, 'runs', below, 'at least', Math.ceil(0.8 * runs.length));
  });
  const isVoid = measured.some(({ isControl }, at) => isControl && judged[at]?.met !== true);
  return { isVoid, results: judged.filter((_, at) => !isVoid || measured[at]?.isControl) };
}
