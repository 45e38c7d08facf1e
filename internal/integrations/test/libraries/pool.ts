import pg from 'pg';

/** A pool as the inbox's documents ask for it: a connection that is lost is an event with a listener. */
export function newPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
