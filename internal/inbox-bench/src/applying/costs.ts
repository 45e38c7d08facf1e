import { readFile } from 'node:fs/promises';
import type { PostgresServer } from '@payment-service/postgres-server';
import pg from 'pg';

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

/** Ticks a second of /proc, which is the same on every Linux of today. */
const TICKS = 100;

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
        postgresCpuMs: await serverCpuMs(await server.processIds()),
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
  return {
    postgresCpuMs: (after.postgresCpuMs - before.postgresCpuMs) / count,
    nodeCpuMs: (after.nodeCpuMs - before.nodeCpuMs) / count,
    walBytes: (after.walBytes - before.walBytes) / count,
    statements: (after.statements - before.statements) / count,
  };
}

/** The fields 14 to 17 of /proc/PID/stat: own time, and that of processes that have ended and were waited for. */
async function serverCpuMs(pids: readonly number[]): Promise<number> {
  let ticks = 0;
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined) continue;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    for (const field of fields.slice(11, 15)) ticks += Number(field);
  }
  return (ticks / TICKS) * 1000;
}
