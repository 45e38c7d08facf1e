import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { SyncCount } from '../src/count-syncs.ts';
import { syncsDuring, withoutSync } from '../src/coverage.ts';
import type { SyncResult } from '../src/judge-syncs.ts';
import { syncsIn } from '../src/sync-trace.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-fsync-count-test-'));
// A server of root's runs as a user of its own, who has to reach it.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));
const program = join(import.meta.dirname, '..', 'src', 'fsync-count.ts');

test('every acknowledgement of the inbox has its sync, on both stores; those of the controls have none', () => {
  const path = join(folder, 'report.json');
  const run = spawnSync(process.execPath, [program, '--count', '80', '--report', path], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  });
  expect(run.status, run.stdout + run.stderr).toBe(0);
  const report = JSON.parse(readFileSync(path, 'utf8')) as { results: SyncResult[]; counts: SyncCount[] };
  expect(report.results.filter(({ met }) => !met)).toEqual([]);
  expect(report.counts.map(({ id, concurrency }) => `${id} ${concurrency}`)).toEqual(
    ['inboxPostgres', 'inboxSqlite', 'lazyPostgres', 'lazySqlite'].flatMap((id) => [`${id} 1`, `${id} 32`]),
  );
  for (const { id, concurrency, syncs, withoutSync: without } of report.counts) {
    if (id.startsWith('lazy')) expect(without).toBeGreaterThanOrEqual(40);
    else expect(without).toBe(0);
    if (id.startsWith('inbox') && concurrency === 1) expect(syncs).toBeGreaterThanOrEqual(80);
  }
  expect(readdirSync(folder)).toEqual(['report.json']);
});

test('without strace it says how to install it, and fails', () => {
  // An empty PATH: neither strace nor apt-get is there.
  const run = spawnSync(process.execPath, [program], { encoding: 'utf8', env: { PATH: folder } });
  expect(run.status).toBe(1);
  expect(run.stderr).toBe(
    'strace is not installed, and could not be. On Debian, as root: apt-get install strace\n',
  );
});

describe('what strace writes', () => {
  test('whole calls and interrupted ones, of log files only', () => {
    const text = [
      '101   1763712000.000100 fdatasync(9</data/pg_wal/000000010000000000000001>) = 0 <0.000500>',
      '102   1763712000.001000 fdatasync(9</data/pg_wal/000000010000000000000001> <unfinished ...>',
      '103   1763712000.001100 fsync(4</data/base/5/1259>) = 0 <0.000500>',
      '102   1763712000.002000 <... fdatasync resumed>) = 0 <0.000900>',
      '104   1763712000.003000 fdatasync(9</data/pg_wal/000000010000000000000001>) = -1 EIO (error) <0.000500>',
      '105   1763712000.004000 +++ exited with 0 +++',
    ].join('\n');
    const at = (ms: number): number => 1_763_712_000_000 + ms;
    const rounded = syncsIn(text, /\/pg_wal\//).map(({ begin, end }) => [begin, end].map(toMicroseconds));
    expect(rounded).toEqual([[at(0.1), at(0.6)].map(toMicroseconds), [at(1), at(1.9)].map(toMicroseconds)]);
  });
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

function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000);
}
