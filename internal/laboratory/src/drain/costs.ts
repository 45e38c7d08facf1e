import type { PostgresServer } from '@payment-service/postgres-server';
import pg from 'pg';
import { serverCpuMs } from '../load/server-cpu.ts';

/** What something cost, in all. */
export interface Costs {
  /** Of all processes of the server. */
  readonly postgresCpuMs: number;
  /** Of this process. */
  readonly nodeCpuMs: number;
  readonly walBytes: number;
  /** BEGIN and COMMIT included. */
  readonly statements: number;
}

/** For a server with pg_stat_statements. */
export async function costMeter(
  server: PostgresServer,
): Promise<{ read: () => Promise<Costs>; close: () => Promise<void> }> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('create extension if not exists pg_stat_statements');
  return {
    async read() {
      const { rows } = await client.query<{ wal: string; statements: string }>(
        `select pg_current_wal_insert_lsn() - '0/0' as wal, (select sum(calls) from pg_stat_statements) as statements`,
      );
      const { user, system } = process.cpuUsage();
      return {
        postgresCpuMs: await serverCpuMs(server),
        nodeCpuMs: (user + system) / 1000,
        walBytes: Number(rows[0]?.wal),
        statements: Number(rows[0]?.statements),
      };
    },
    close: () => client.end(),
  };
}

/** Per payment. */
export function costsBetween(before: Costs, after: Costs, count: number): Costs {
  const per = (cost: keyof Costs): number => (after[cost] - before[cost]) / count;
  return {
    postgresCpuMs: per('postgresCpuMs'),
    nodeCpuMs: per('nodeCpuMs'),
    walBytes: per('walBytes'),
    statements: per('statements'),
  };
}
