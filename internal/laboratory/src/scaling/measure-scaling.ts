import { join } from 'node:path';
import type { PostgresServer } from '@payment-service/postgres-server';
import type pg from 'pg';
import type { ProgramRequest } from '../load/program-process.ts';
import { serverCpuMs } from '../load/server-cpu.ts';
import { Child } from '../measure/child.ts';
import { interleave } from '../measure/measure.ts';

export interface ScalingPace {
  readonly rounds: number;
  /** Callbacks of one slice, shared by its processes. */
  readonly count: number;
  /** Callbacks under way at the same time, shared by the processes. */
  readonly concurrency: number;
}

/** How one slice went. */
export interface ScalingSample {
  readonly intake: Stage;
  readonly drain: Stage;
}

export interface Stage {
  readonly perSecond: number;
  /** CPU time of the programs for each callback, in milliseconds. */
  readonly programsMs: number;
  /** CPU time of PostgreSQL for each callback, in milliseconds. Not a number where there is no procfs. */
  readonly postgresMs: number;
}

const TABLES = ['callback', 'transition', 'body', 'delivery', 'expectation', 'tally'];

/**
 * Times the intake and the drain of the same callbacks by as many processes as each of `sizes` says: every round runs each
 * size once, in a new random order.
 */
export async function measureScaling(
  sizes: readonly number[],
  { rounds, count, concurrency }: ScalingPace,
  { server, pool, at }: { readonly server: PostgresServer; readonly pool: pg.Pool; readonly at: string },
): Promise<ReadonlyMap<number, readonly ScalingSample[]>> {
  let settled = 0;
  let onSettled: () => void = () => undefined;
  const onTold = (more: unknown): void => {
    settled += Number(more);
    onSettled();
  };
  const program = join(import.meta.dirname, '..', 'load', 'program-process.ts');
  const hosts = Array.from({ length: Math.max(...sizes) }, () => new Child(program, { onTold }));
  const askAll = (own: readonly Child[], request: (index: number) => ProgramRequest): Promise<number[]> =>
    Promise.all(own.map((host, index) => host.ask<number>(request(index))));

  /** The processor time of the programs, and of the server. */
  async function cpuOf(own: readonly Child[]): Promise<readonly [number, number]> {
    const each = await askAll(own, () => ({ kind: 'rest' }));
    return [each.reduce((sum, cpuMs) => sum + cpuMs, 0), await serverCpuMs(server)];
  }

  async function stage(own: readonly Child[], run: () => Promise<unknown>): Promise<Stage> {
    const [programsBefore, postgresBefore] = await cpuOf(own);
    const started = performance.now();
    await run();
    const seconds = (performance.now() - started) / 1000;
    const [programs, postgres] = await cpuOf(own);
    return {
      perSecond: count / seconds,
      programsMs: (programs - programsBefore) / count,
      postgresMs: (postgres - postgresBefore) / count,
    };
  }

  async function slice(size: number, name: string): Promise<ScalingSample> {
    await pool.query(
      `truncate ${TABLES.map((table) => `payment_inbox.${table}`).join(', ')}, merchant_effect`,
    );
    const own = hosts.slice(0, size);
    await askAll(own, (index) => ({ kind: 'prepare', prefix: `${name}-${index}`, count: count / size }));
    const intake = await stage(own, () =>
      askAll(own, () => ({ kind: 'receive', concurrency: concurrency / size })),
    );
    settled = 0;
    const drain = await stage(own, async () => {
      const done = new Promise<void>((resolve) => {
        onSettled = () => (settled >= count ? resolve() : undefined);
      });
      await askAll(own, () => ({ kind: 'work', tells: true }));
      await done;
    });
    const { rows } = await pool.query<{ n: number }>(
      'select count(distinct transition_id)::int as n from merchant_effect',
    );
    if (rows[0]?.n !== count) throw new Error(`${rows[0]?.n} of ${count} payments were credited.`);
    return { intake, drain };
  }

  try {
    for (const host of hosts) await askAll([host], () => ({ kind: 'open', way: 'pg', at, receives: false }));
    for (const size of sizes) await slice(size, `warm-${size}`);
    return await interleave(sizes, rounds, Math.random, (size, round) => slice(size, `${size}-${round}`));
  } finally {
    for (const host of hosts) await host.end();
  }
}
