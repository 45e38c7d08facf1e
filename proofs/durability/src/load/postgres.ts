import { readFile } from 'node:fs/promises';
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { atTheEnd } from '../measure/program.ts';

/** The merchant's own. */
export const EFFECT_TABLE: string =
  'create table merchant_effect (transition_id text not null, amount text not null)';

/**
 * A PostgreSQL server in the state of one that has run for a while: the files of its write-ahead log exist. A new server
 * creates each of them, with 16 MB of zeros and a sync, while a commit and all commits behind it wait.
 *
 * @param isShort whether the run is too short to need them.
 */
export async function startWarmPostgres(
  isShort: boolean,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const server = await startPostgres({ min_wal_size: '1GB', ...settings });
  atTheEnd(() => server.stop());
  await withClient(server.url, async (client) => {
    await client.query('create table run_in (n integer)');
    // A min_wal_size of 1 GB holds 64 of them.
    for (let n = 0; n < (isShort ? 2 : 60); n++) {
      await client.query('insert into run_in values ($1)', [n]);
      await client.query('select pg_switch_wal()');
    }
    await client.query('drop table run_in');
    // Files that are no longer needed are kept and reused for the next writes.
    await client.query('checkpoint');
  });
  return server;
}

/** Uses one connection once. */
export async function withClient<T>(
  url: string,
  use: (client: pg.Client) => Promise<T>,
  limits: pg.ClientConfig = {},
): Promise<T> {
  const client = new pg.Client({ connectionString: url, ...limits });
  // Shows in the next statement.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** A new database with the merchant's table. */
export async function createDatabase(serverUrl: string, name: string, max: number): Promise<pg.Pool> {
  await withClient(serverUrl, (admin) => admin.query(`create database ${name}`));
  const pool = new pg.Pool({ connectionString: databaseUrl(serverUrl, name), max });
  pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  await pool.query(EFFECT_TABLE);
  return pool;
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** The unit in which Linux counts CPU time. */
const TICK_MS = 10;

/**
 * The CPU time of a server so far, in milliseconds: of all its processes, including ended ones, since each process also counts
 * the time of its children.
 *
 * @returns NaN without procfs.
 */
export async function serverCpuMs(server: PostgresServer): Promise<number> {
  let ticks: number | undefined;
  for (const pid of await server.processIds()) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    // The process has just ended, or there is no procfs.
    if (stat === undefined) continue;
    // From the third field on. The second, the name in brackets, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    for (const field of fields.slice(11, 15)) ticks = (ticks ?? 0) + Number(field);
  }
  return (ticks ?? Number.NaN) * TICK_MS;
}
