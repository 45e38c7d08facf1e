/**
 * `pnpm lab timing [--samples N] [--runs N] [--seed N] [--short] [--report path]`: times single comparisons and verifications of
 * two classes of wrong hashes, and asks with Welch's t whether their means differ: 4.5 and more is a leak (dudect's bound). Four
 * of five runs have to stay below it. A timer that shows nothing proves nothing: the controls end at the first difference, `===`
 * among them, and the run is void, and fails, unless each run of each control is above 10.
 *
 * Run it on a machine that does nothing else. With --short it only shows that it works.
 */

import { setImmediate } from 'node:timers/promises';
import { seededRandom } from '../history/seeded-random.ts';
import { shuffled, spread } from '../measure/measure.ts';
import { runBenchmark } from '../measure/program.ts';
import { judge, told } from '../measure/results.ts';
import { CONTENDERS } from './contenders.ts';
import { measureTiming, type TimingRun } from './measure-timing.ts';

const LEAK = 4.5;
const SEEN = 10;
const PACES = {
  full: { samples: 1_000_000, runs: 5, seed: 1 },
  short: { samples: 2_000, runs: 1, seed: 1 },
};

await runBenchmark('timing', PACES, async ({ samples, runs, seed }) => {
  const random = seededRandom(seed, 1);
  const measured = new Map(CONTENDERS.map((one): [string, TimingRun[]] => [one.name, []]));
  for (let run = 0; run < runs; run++)
    for (const one of shuffled(CONTENDERS, () => random.next())) {
      measured.get(one.name)?.push(measureTiming(one, samples, seed + run));
      await setImmediate(); // So that Ctrl-C ends the run.
    }
  const found = CONTENDERS.map((one) => ({ ...one, runs: measured.get(one.name) ?? [] }));
  const results = found.flatMap(({ name, isControl, runs: all }) => {
    const sizes = all.map(({ cropped }) => Math.abs(cropped.t));
    const resolution = spread(all.map(({ cropped }) => LEAK * cropped.error));
    return isControl
      ? [judge(`${name}: least |t|`, '', Math.min(...sizes), 'above', SEEN)]
      : [
          judge(`${name}: runs below ${LEAK}`, 'runs', below(sizes), 'at least', Math.ceil(0.8 * runs)),
          told(`${name}: the least difference that shows`, 'ns', resolution),
        ];
  });
  const rows = found.map(({ name, classes, runs: all }) => [
    name,
    all.map(({ cropped }) => cropped.t.toFixed(1)).join(', '),
    all.map(({ cropped }) => cropped.difference.toFixed(1)).join(', '),
    all.map(({ whole }) => whole.t.toFixed(1)).join(', '),
    classes.join(' | '),
  ]);
  const head = ['', "Welch's t", 'difference, ns', 't, nothing dropped', 'classes'];
  const figures = found.map(({ name, runs: all }) => ({ name, runs: all }));
  return { results, tables: [{ title: 'Each run', head, rows }], figures };
});

function below(sizes: readonly number[]): number {
  return sizes.filter((size) => size < LEAK).length;
}
