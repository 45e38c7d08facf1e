import { setTimeout as wait } from 'node:timers/promises';
import { freshCallbacks } from '@payment-service/durability/load/callbacks.ts';
import { sendCallbacks } from '@payment-service/durability/load/sender.ts';
import { startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { hostContender } from '../src/inbox/measure.ts';

test('by the count of PostgreSQL itself, the inbox syncs the log for each of 100 callbacks in a row, and a control without synchronous commits does not', async () => {
  const count = await countingServer();
  // The first use creates the tables, which also syncs.
  await count('inbox, postgres', 0);
  const idle = await count('inbox, postgres', 0);
  expect((await count('inbox, postgres', 100)) - idle).toBeGreaterThanOrEqual(100);
  expect(await count('control, postgres', 100)).toBeLessThan(10);
});

/** @returns how often a contender's sessions sync the write-ahead log while it keeps the callbacks. */
async function countingServer(): Promise<(name: string, callbacks: number) => Promise<number>> {
  // The background writers must not sync for the sessions, and on some systems the default method is not a call that can be
  // counted.
  const server = await startPostgres({
    wal_writer_delay: '10000',
    checkpoint_timeout: '1h',
    wal_sync_method: 'fsync',
  });
  const client = new pg.Client(server.url);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await server.stop();
  });
  // A session updates the statistics at the latest when it ends.
  const total = async (): Promise<number> => {
    const others = `select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
    while ((await client.query(others)).rowCount !== 0) await wait(20);
    const { rows } = await client.query<{ syncs: number }>(
      `select fsyncs::int as syncs from pg_stat_io
       where object = 'wal' and context = 'normal' and backend_type = 'client backend'`,
    );
    const [row] = rows;
    if (row === undefined) throw new Error('This PostgreSQL does not count the syncs of its log.');
    return row.syncs;
  };
  return async (name, callbacks) => {
    const before = await total();
    const { host, port } = await hostContender(name, { postgresUrl: server.url, folder: '' });
    await sendCallbacks(port, freshCallbacks('counted', callbacks), 1);
    await host.end();
    return (await total()) - before;
  };
}
