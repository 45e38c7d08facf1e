/**
 * `pnpm lab timing [--samples N] [--runs N] [--seed N] [--short] [--report path]`: times single comparisons and verifications of
 * two classes of wrong hashes, and asks with a t over blocks of samples whether their means differ: 4.5 and more is a leak
 * (dudect's bound). Four of five runs have to stay below it. A timer that shows nothing proves nothing: the controls end at the
 * first difference, `===` among them, and each of their runs has to be above 10. A timer that shows too much proves nothing
 * either: the first class is measured against itself in the same blocks, and has to stay below 4.5 in four of five runs. Where
 * one of these fails, the run is void: it judges nothing, and ends with 1.
 *
 * Run it on a machine that does nothing else. With --short it only shows that it works.
 */

import { setImmediate } from 'node:timers/promises';
import { seededRandom } from '../history/seeded-random.ts';
import { interleave } from '../measure/measure.ts';
import { runBenchmark } from '../measure/program.ts';
import { CONTENDERS } from './contenders.ts';
import { judgeTiming } from './judge-timing.ts';
import { measureTiming, type TimingRun } from './measure-timing.ts';

const PACES = {
  full: { samples: 1_000_000, runs: 5, seed: 1 },
  short: { samples: 3000, runs: 1, seed: 1 },
};

await runBenchmark('timing', PACES, async ({ samples, runs, seed }) => {
  const random = seededRandom(seed, 1);
  const measured = await interleave(CONTENDERS, runs, random.next, async (one, run) => {
    await setImmediate(); // So that Ctrl-C ends the run.
    return measureTiming(one, samples, seed + run);
  });
  const figures = CONTENDERS.map((one) => ({ ...one, runs: measured.get(one) ?? [] }));
  const rows = figures.map(({ name, classes, runs: all }) => {
    const of = (figure: (one: TimingRun) => number): string =>
      all.map((one) => figure(one).toFixed(1)).join(', ');
    const [t, difference] = [of((one) => one.classes.t), of((one) => one.classes.difference)];
    const [same, singly] = [of((one) => one.same.t), of((one) => one.sameSingly.t)];
    return [name, t, difference, same, singly, classes.join(' | ')];
  });
  const head = ['', 't', 'difference, ns', 't of the first class twice', 'the same, singly', 'classes'];
  const { isVoid, results } = judgeTiming(figures);
  const title = isVoid ? 'Each run. VOID: the program sees too much or too little here to judge' : 'Each run';
  return { results, isVoid, tables: [{ title, head, rows }], figures };
});
