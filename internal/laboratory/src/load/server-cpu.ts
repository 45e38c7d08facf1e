import { readFile } from 'node:fs/promises';
import type { PostgresServer } from '@payment-service/postgres-server';

/** What a kernel for Linux counts CPU time in. */
const TICK_MS = 10;

/**
 * The CPU time of a server so far, in milliseconds: of all its processes, those that have ended included, since each has its
 * children's time beside its own.
 *
 * @returns NaN where there is no procfs.
 */
export async function serverCpuMs(server: PostgresServer): Promise<number> {
  let ticks: number | undefined;
  for (const pid of await server.processIds()) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    // It has just ended, or there is no procfs.
    if (stat === undefined) continue;
    // From the third field on. The second, the name in brackets, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    for (const field of fields.slice(11, 15)) ticks = (ticks ?? 0) + Number(field);
  }
  return (ticks ?? Number.NaN) * TICK_MS;
}
