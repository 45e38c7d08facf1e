import pg from 'pg';

/**
 * Brings a new PostgreSQL server into the state of one that has run for a while: the files of its write-ahead log are
 * there. A new one makes each of them, 16 MB of zeros and a sync, while a commit waits for it, and all commits behind it.
 *
 * @param segments how many files; the server's `min_wal_size` must hold them.
 */
export async function runIn(postgresUrl: string, segments: number): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    await client.query('create table run_in (n integer)');
    for (let n = 0; n < segments; n++) {
      await client.query('insert into run_in values ($1)', [n]);
      await client.query('select pg_switch_wal()');
    }
    await client.query('drop table run_in');
    // Files that are no longer needed are kept, and take what is written next.
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}
