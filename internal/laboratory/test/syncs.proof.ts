import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '@payment-service/postgres-server';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hostContender } from '../src/inbox/measure.ts';
import { freshCallbacks } from '../src/load/callbacks.ts';
import { sendCallbacks } from '../src/load/sender.ts';
import { syncsDuring, syncsIn, withoutSync } from '../src/syncs/sync-trace.ts';
import { runLab } from './support/run-program.ts';

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

test('without strace, fsync-count says what to install, and fails', () => {
  // With an empty PATH, strace is not found.
  const run = runLab(['fsync-count'], { PATH: '' });
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(/^strace is not installed\. Install it/);
});

test('of what strace writes, syncs of log files count that succeeded', () => {
  const log = '9</data/pg_wal/000000010000000000000001>';
  const text = [
    `1763712000.000100 fdatasync(${log}) = 0 <0.000500>`,
    '1763712000.001100 fsync(4</data/base/5/1259>) = 0 <0.000500>',
    `1763712000.002000 fsync(${log})     = 0 <0.000900>`,
    `1763712000.003000 fdatasync(${log}) = -1 EIO (error) <0.000500>`,
    '1763712000.004000 +++ exited with 0 +++',
  ].join('\n');
  const begun = syncsIn(text, /\/pg_wal\//).map(({ begin, end }) => [begin, end].map(microseconds));
  expect(begun).toEqual([
    [100, 600],
    [2000, 2900],
  ]);
});

describe('which acknowledgements a sync can have been made for', () => {
  const sync = { begin: 110, end: 120 };

  test('one that began after the request and ended before the answer', () => {
    expect(withoutSync([{ begin: 100, end: 130 }], [sync])).toBe(0);
    expect(withoutSync([{ begin: 100, end: 119 }], [sync])).toBe(1);
    expect(withoutSync([{ begin: 111, end: 130 }], [sync])).toBe(1);
    expect(withoutSync([{ begin: 100, end: 130 }], [])).toBe(1);
  });

  test('one sync serves a group, and counts once', () => {
    const group = [
      { begin: 100, end: 130 },
      { begin: 105, end: 125 },
    ];
    expect(withoutSync(group, [sync])).toBe(0);
    expect(syncsDuring(group, [sync, { begin: 500, end: 510 }])).toBe(1);
  });
});

/** Relative to the first second of the trace. */
function microseconds(ms: number): number {
  return Math.round((ms - 1_763_712_000_000) * 1000);
}
