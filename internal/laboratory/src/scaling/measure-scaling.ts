import { join } from 'node:path';
import type { PostgresServer } from '@payment-service/postgres-server';
import type pg from 'pg';
import { serverCpuMs } from '../load/server-cpu.ts';
import { Child } from '../measure/child.ts';
import { interleave } from '../measure/measure.ts';
import type { ScalingRequest } from './scaling-process.ts';

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
  pace: ScalingPace,
  { server, pool }: { readonly server: PostgresServer; readonly pool: pg.Pool },
): Promise<ReadonlyMap<number, readonly ScalingSample[]>> {
  const { rounds, count, concurrency } = pace;
  let settled = 0;
  let onSettled: () => void = () => undefined;
  const onTold = (more: unknown): void => {
    settled += Number(more);
    onSettled();
  };
  const program = join(import.meta.dirname, 'scaling-process.ts');
  const hosts = Array.from({ length: Math.max(...sizes) }, () => new Child(program, { onTold }));

  async function stage(size: number, run: (own: readonly Child[]) => Promise<number>): Promise<Stage> {
    const own = hosts.slice(0, size);
    const [before, postgresBefore] = [await cpuOf(own), await serverCpuMs(server)];
    const seconds = await run(own);
    const [after, postgresAfter] = [await cpuOf(own), await serverCpuMs(server)];
    return {
      perSecond: count / seconds,
      programsMs: (after - before) / count,
      postgresMs: (postgresAfter - postgresBefore) / count,
    };
  }

  async function slice(size: number, prefix: string): Promise<ScalingSample> {
    await pool.query(`truncate ${TABLES.map((name) => `payment_inbox.${name}`).join(', ')}, credit`);
    const own = hosts.slice(0, size);
    await Promise.all(
      own.map((host, index) =>
        ask(host, { kind: 'prepare', prefix: `${prefix}-${index}`, count: count / size }),
      ),
    );
    const intake = await stage(size, async () => {
      const started = performance.now();
      const receive = { kind: 'receive', concurrency: concurrency / size } as const;
      await Promise.all(own.map((host) => ask(host, receive)));
      return (performance.now() - started) / 1000;
    });
    settled = 0;
    const drain = await stage(size, async () => {
      const started = performance.now();
      const done = new Promise<void>((resolve) => {
        onSettled = () => (settled >= count ? resolve() : undefined);
      });
      await Promise.all(own.map((host) => ask(host, { kind: 'work' })));
      await done;
      const seconds = (performance.now() - started) / 1000;
      await Promise.all(own.map((host) => ask(host, { kind: 'rest' })));
      return seconds;
    });
    const { rows } = await pool.query<{ n: number }>(
      'select count(distinct reference)::int as n from credit',
    );
    if (rows[0]?.n !== count) throw new Error(`${rows[0]?.n} of ${count} payments were credited.`);
    return { intake, drain };
  }

  try {
    for (const host of hosts) await ask(host, { kind: 'open', postgresUrl: server.url });
    for (const size of sizes) await slice(size, `warm-${size}`);
    return await interleave(sizes, rounds, Math.random, (size, round) => slice(size, `${size}-${round}`));
  } finally {
    for (const host of hosts) await host.end();
  }
}

function ask(host: Child, request: ScalingRequest): Promise<number> {
  return host.ask(request);
}

/** A request that does nothing answers with the CPU time. */
async function cpuOf(hosts: readonly Child[]): Promise<number> {
  const each = await Promise.all(hosts.map((host) => ask(host, { kind: 'rest' })));
  return each.reduce((sum, cpuMs) => sum + cpuMs, 0);
}
