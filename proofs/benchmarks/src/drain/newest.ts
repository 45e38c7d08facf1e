import { type Backlog, openBacklog } from '@payment-service/durability/load/backlog.ts';
import type { Beside } from '@payment-service/durability/load/beside.ts';
import { postgresEngine, sqliteEngine } from '@payment-service/durability/load/engines.ts';
import { interleave, quantile, ratio, spread } from '@payment-service/durability/measure/measure.ts';
import { atTheEnd, makeFolder } from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';
import { graphileBacklog, pgBossBacklog, type QueueBacklog } from './queue-backlogs.ts';

export interface NewestPace {
  readonly rounds: number;
  /** The sizes of a large backlog and of a smaller one. */
  readonly behind: number;
  readonly behindSome: number;
  /** How many of the large one a slice without new callbacks settles. */
  readonly behindCount: number;
  /** How many new callbacks a slice receives, how often, and how long it waits for all. */
  readonly newest: number;
  readonly newestEveryMs: number;
  readonly newestWithinMs: number;
}

/** A slice: the rate of the backlog, and how long each new callback took until its effect. */
interface Slice {
  readonly perSecond: number;
  readonly effects: readonly number[];
}
interface Contender {
  readonly name: string;
  readonly fill: () => Promise<void>;
  readonly run: (beside: Beside) => Promise<number>;
}

const AT_LEAST = 0.95;
const MEDIAN_MS = 1000;
const P99_MS = 2000;

/**
 * Callbacks that arrive while a worker drains a backlog, and what they cost its rate, beside what a queue makes of them. The
 * control takes only the oldest that are due, so that new ones wait for all of them.
 */
export async function judgeNewest(serverUrl: string, pace: NewestPace): Promise<readonly Result[]> {
  const folder = await makeFolder();
  const results: Result[] = [];
  for (const engine of ['postgres', 'sqlite'] as const) {
    const inboxes: Contender[] = [];
    const queues: Contender[] = [];
    for (const size of [0, pace.behindSome, pace.behind]) {
      const backlog = await (engine === 'postgres'
        ? postgresEngine(serverUrl, `behind_${size}`).then((own) => openBacklog(own, size))
        : sqliteEngine(folder, `behind_${size}`).then((own) => openBacklog(own, size)));
      atTheEnd(backlog.close);
      inboxes.push(...inboxContenders(backlog, `${engine}, ${size.toLocaleString('en')} due`, pace, size));
      if (engine === 'sqlite') continue;
      const behind = `${size.toLocaleString('en')} due`;
      queues.push(
        queueContender(`graphile-worker, ${behind}`, await graphileBacklog(serverUrl, size)),
        queueContender(`pg-boss, ${behind}`, await pgBossBacklog(serverUrl, size)),
      );
    }
    results.push(...(await race(inboxes, queues, pace)));
  }
  return results;
}

function inboxContenders(
  backlog: Backlog,
  due: string,
  pace: NewestPace,
  size: number,
): readonly Contender[] {
  const { fill, drain } = backlog;
  const beside: Contender = {
    name: `${due}, beside new callbacks`,
    fill,
    run: (sent) => drain(0, { beside: sent }),
  };
  if (size < pace.behind) return [beside];
  return [
    beside,
    { name: due, fill, run: () => drain(pace.behindCount) },
    { name: `control, ${due}`, fill, run: (sent) => drain(0, { beside: sent, isOldestFirst: true }) },
  ];
}

function queueContender(name: string, { fill, work }: QueueBacklog): Contender {
  return { name, fill, run: (sent) => work(sent).then(() => Number.NaN) };
}

async function race(
  inboxes: readonly Contender[],
  queues: readonly Contender[],
  pace: NewestPace,
): Promise<readonly Result[]> {
  const slices = await interleave(
    [...inboxes, ...queues],
    pace.rounds,
    Math.random,
    async ({ fill, run }): Promise<Slice> => {
      await fill();
      const effects: number[] = [];
      const { newest: count, newestEveryMs: everyMs, newestWithinMs: withinMs } = pace;
      return { perSecond: await run({ count, everyMs, withinMs, effects }), effects };
    },
  );
  const rates = (own: Contender): number[] => (slices.get(own) ?? []).map(({ perSecond }) => perSecond);
  const waits = (own: Contender, share: number): number =>
    quantile(
      (slices.get(own) ?? []).flatMap(({ effects }) => effects),
      share,
    );
  const [beside, alone, control] = inboxes.slice(-3);
  if (beside === undefined || alone === undefined || control === undefined) throw new Error('Not measured.');
  return [
    ...[alone, beside].map((own) => told(own.name, 'per second', spread(rates(own)))),
    judge(`${beside.name}, over it alone`, 'ratio', ratio(rates(beside), rates(alone)), 'at least', AT_LEAST),
    ...inboxes
      .slice(0, -2)
      .flatMap((own) => [
        judge(`${own.name}, half`, 'ms', waits(own, 0.5), 'at most', MEDIAN_MS),
        judge(`${own.name}, 99 of 100`, 'ms', waits(own, 0.99), 'at most', P99_MS),
      ]),
    judge(`${control.name}, half`, 'ms', waits(control, 0.5), 'above', MEDIAN_MS),
    ...queues.flatMap((own) => [
      told(`${own.name}, half`, 'ms', waits(own, 0.5)),
      told(`${own.name}, 99 of 100`, 'ms', waits(own, 0.99)),
    ]),
  ];
}
