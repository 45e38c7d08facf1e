import { startWarmPostgres } from '../load/postgres.ts';
import { interleave } from '../measure/measure.ts';
import { atTheEnd } from '../measure/program.ts';
import type { Applier } from './applier.ts';
import { type Costs, costMeter, costsBetween } from './costs.ts';
import { floorApplier, graphileApplier, inboxApplier, pgBossApplier } from './postgres-appliers.ts';
import { floorSqliteApplier, inboxSqliteApplier } from './sqlite-appliers.ts';

export interface ApplyingPace {
  readonly rounds: number;
  /** Payments of one slice. */
  readonly payments: number;
}

/** One slice: its rate, and what a payment cost. */
export interface Applied extends Costs {
  readonly perSecond: number;
}

/** The slices of each contender in order, by its name and how many it applied at a time. */
export type AppliedSlices = ReadonlyMap<string, readonly Applied[]>;

export function sliceName(name: string, concurrency: number): string {
  return `${name}, ${concurrency} at a time`;
}

/**
 * Applies payments with the inbox, its floor and two queues, interleaved on one server. All have the same effect.
 *
 * @throws When one has not exactly as many effects as payments.
 */
export async function measureApplying(
  pace: ApplyingPace,
  isShort: boolean,
  folder: string,
): Promise<AppliedSlices> {
  const server = await startWarmPostgres(isShort, { shared_preload_libraries: 'pg_stat_statements' });
  const meter = await costMeter(server);
  atTheEnd(meter.close);
  const slices: { applier: Applier; concurrency: number }[] = [];
  for (const open of [inboxApplier, floorApplier, graphileApplier, pgBossApplier]) {
    const applier = await open(server.url);
    atTheEnd(applier.close);
    slices.push({ applier, concurrency: 4 }, { applier, concurrency: 10 });
  }
  for (const open of [inboxSqliteApplier, floorSqliteApplier]) {
    const applier = await open(folder);
    atTheEnd(applier.close);
    slices.push({ applier, concurrency: 1 });
  }
  const run = async ({ applier, concurrency }: (typeof slices)[number]): Promise<Applied> => {
    const effects = await applier.effects();
    await applier.fill(pace.payments);
    const before = await meter.read();
    const seconds = await applier.apply(pace.payments, concurrency);
    const costs = costsBetween(before, await meter.read(), pace.payments);
    const made = (await applier.effects()) - effects;
    if (made !== pace.payments)
      throw new Error(`${applier.name}: ${made} effects of ${pace.payments} payments.`);
    return { perSecond: pace.payments / seconds, ...costs };
  };
  if (!isShort) for (const slice of slices) await run(slice);
  const samples = await interleave(slices, pace.rounds, Math.random, run);
  return new Map(
    [...samples].map(([{ applier, concurrency }, own]) => [sliceName(applier.name, concurrency), own]),
  );
}
