import pg from 'pg';

/** A pool as required by the inbox's documents: a lost connection is an event with a listener. */
export function newPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
