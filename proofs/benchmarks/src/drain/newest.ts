import type { Backlog } from '@payment-service/durability/load/backlog.ts';
import { interleave, quantile, ratio, spread } from '@payment-service/durability/measure/measure.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';

export interface NewestPace {
  readonly rounds: number;
  /** How many of the backlog a slice settles. */
  readonly behindCount: number;
  /** How many new callbacks it receives at most, and how often. */
  readonly newest: number;
  readonly newestEveryMs: number;
}

/** A slice: the rate of the backlog, and how long each new callback took until its effect. */
interface Slice {
  readonly perSecond: number;
  readonly effects: readonly number[];
}

const AT_LEAST = 0.95;
const MEDIAN_MS = 1000;
const P99_MS = 2000;

/**
 * Callbacks that arrive while a worker drains a backlog, and what they cost its rate. The control takes only the oldest that are
 * due, so that new ones wait for all of them.
 */
export async function judgeNewest(
  backlog: Backlog,
  name: string,
  pace: NewestPace,
): Promise<readonly Result[]> {
  const [alone, beside] = [name, `${name}, beside new callbacks`];
  const control = `control, ${beside}`;
  const slices = await interleave(
    [alone, beside, control],
    pace.rounds,
    Math.random,
    async (own): Promise<Slice> => {
      await backlog.fill();
      const effects: number[] = [];
      const sent = { count: pace.newest, everyMs: pace.newestEveryMs, effects };
      const options = { beside: own === alone ? undefined : sent, isOldestFirst: own === control };
      return { perSecond: await backlog.drain(pace.behindCount, options), effects };
    },
  );
  const of = (own: string): readonly Slice[] => slices.get(own) ?? [];
  const rates = (own: string): number[] => of(own).map(({ perSecond }) => perSecond);
  const effects = (own: string, share: number): number =>
    quantile(
      of(own).flatMap((slice) => slice.effects),
      share,
    );
  return [
    ...[alone, beside, control].map((own) => told(own, 'per second', spread(rates(own)))),
    judge(`${beside}, over it alone`, 'ratio', ratio(rates(beside), rates(alone)), 'at least', AT_LEAST),
    judge(`${beside}, half`, 'ms', effects(beside, 0.5), 'at most', MEDIAN_MS),
    judge(`${beside}, 99 of 100`, 'ms', effects(beside, 0.99), 'at most', P99_MS),
    judge(`${control}, half`, 'ms', effects(control, 0.5), 'above', MEDIAN_MS),
  ];
}
