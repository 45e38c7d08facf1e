/**
 * `pnpm lab timing [--samples N] [--runs N] [--seed N] [--short] [--report path]`: times single comparisons and verifications
 * of two classes of wrong hashes, and tests with a t over blocks of samples whether their means differ: 4.5 or more is a leak
 * (dudect's bound). Four of five runs must stay below it. A timer that shows nothing proves nothing: the controls, among them
 * `===`, end at the first difference, and each of their runs must be above 10. A timer that shows too much proves nothing
 * either: the first class is measured against itself in the same blocks, and must stay below 4.5 in four of five runs. If one
 * of these fails, the run is void: it judges nothing, and exits with 1.
 *
 * Run it on an otherwise idle machine. With --short it only shows that it works.
 */
import { setImmediate } from 'node:timers/promises';
import { seededRandom } from '@payment-service/durability/history/seeded-random.ts';
import { interleave, shuffled, spread } from '@payment-service/durability/measure/measure.ts';
import { runBenchmark } from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';
import { CONTENDERS, type Contender } from './contenders.ts';
import { cropAbove, type Difference, pairedT } from './paired-t.ts';

const PACES = {
  full: { samples: 1_000_000, runs: 5, seed: 1 },
  short: { samples: 3000, runs: 1, seed: 1 },
};

const LEAK = 4.5;
const SEEN = 10;

/** The class of each group of a block. */
const GROUPS = [0, 0, 1] as const;
/** The inputs of each group, new in each block, and the calls of each input: a block has a thousand samples of each group. */
const INPUTS = 50;
const CALLS = 20;
const WARM_UP_BLOCKS = 10;

/** One run of one contender, in nanoseconds. */
interface TimingRun {
  /** The t of the second class against the first, over the means of blocks. */
  readonly classes: Difference;
  /**
   * The t of the first class against itself, over the means of the same blocks: what the program sees when there is nothing to
   * see.
   */
  readonly same: Difference;
}

export default function (): Promise<void> {
  return runBenchmark('timing', PACES, async ({ samples, runs, seed }) => {
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
      return [name, t, difference, of((one) => one.same.t), classes.join(' | ')];
    });
    const head = ['', 't', 'difference, ns', 't of the first class twice', 'classes'];
    const { isVoid, results } = judgeTiming(figures);
    const title = isVoid
      ? 'Each run. VOID: the program sees too much or too little here to judge'
      : 'Each run';
    return { results, isVoid, tables: [{ title, head, rows }], figures };
  });
}

/**
 * Times single calls in blocks. The inputs of a block are made and called in one random order, which the seed decides, so that
 * neither their place in memory nor other activity of the machine depends on the class. The measuring loop does not know the
 * class.
 */
function measureTiming(contender: Contender, samples: number, seed: number): TimingRun {
  const random = seededRandom(seed, 0);
  const means: readonly [number[], number[], number[]] = [[], [], []];
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
    means.forEach((taken, group) => {
      const kept = times.filter((time, index) => time <= bound && order[index % order.length] === group);
      taken.push(kept.reduce((sum, time) => sum + time, 0) / kept.length);
    });
  }
  const [one, same, other] = means;
  return { classes: pairedT(one, other), same: pairedT(one, same) };
}

function wrong(): never {
  throw new Error('A wrong hash was accepted: nothing was measured.');
}

type Measured = Pick<Contender, 'name' | 'isControl'> & {
  readonly runs: readonly Pick<TimingRun, 'classes' | 'same'>[];
};

/** Judges the targets only if every control of the run held. */
export function judgeTiming(measured: readonly Measured[]): { isVoid: boolean; results: readonly Result[] } {
  const controls = measured.flatMap(({ name, isControl, runs }) => {
    const twice = runs.map((run) => run.same);
    const same = runsBelow(`${name}, the first class twice`, twice);
    const least = Math.min(...runs.map(({ classes }) => Math.abs(classes.t)));
    return isControl ? [same, judge(`${name}: least |t|`, '', least, 'above', SEEN)] : [same];
  });
  const isVoid = controls.some(({ met }) => !met);
  const targets = measured.flatMap(({ name, isControl, runs }) => {
    const classes = runs.map((run) => run.classes);
    const resolution = spread(classes.map(({ error }) => LEAK * error));
    return isControl || isVoid
      ? []
      : [runsBelow(name, classes), told(`${name}: the least difference that shows`, 'ns', resolution)];
  });
  return { isVoid, results: [...targets, ...controls] };
}

/** Four of five must be. */
function runsBelow(name: string, runs: readonly Difference[]): Result {
  const below = runs.filter(({ t }) => Math.abs(t) < LEAK).length;
  return judge(`${name}: runs below ${LEAK}`, 'runs', below, 'at least', Math.ceil(0.8 * runs.length));
}
