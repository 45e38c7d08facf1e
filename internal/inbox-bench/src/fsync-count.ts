/**
 * `pnpm fsync-count [--count N] [--report path]`: acknowledges callbacks over HTTP while strace writes down every fsync
 * and fdatasync of the engine's write-ahead log, and then asks of each acknowledgement: was there a sync that began after
 * the request and ended before the answer? The controls answer before anything is on disk, and must show that there was
 * none. Needs strace, and ends with 1 where it is not installed or a target is missed.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '@payment-service/postgres-server';
import { atTheEnd, cleanUp } from './clean-up.ts';
import { countSyncs, type SyncCount } from './count-syncs.ts';
import { installed } from './installed.ts';
import { judgeSyncs, printSyncs } from './judge-syncs.ts';

const { values: flags } = parseArgs({
  options: { count: { type: 'string', default: '300' }, report: { type: 'string' } },
});
const report = flags.report ?? join(import.meta.dirname, '..', '..', '..', 'reports', 'fsync-count.json');
const missing = installed('strace');
if (missing !== undefined) {
  console.error(missing);
  process.exitCode = 1;
} else {
  try {
    await fsyncCount(Number(flags.count));
  } finally {
    await cleanUp();
  }
}

async function fsyncCount(count: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-service-fsync-count-'));
  atTheEnd(() => rm(folder, { recursive: true }));
  // The background writers of a server would sync for whoever waits long enough: they are told to take their time.
  const postgres = await startPostgres({ wal_writer_delay: '10000', checkpoint_timeout: '1h' });
  atTheEnd(() => postgres.stop());
  const counts: SyncCount[] = [];
  for (const id of ['inboxPostgres', 'inboxSqlite', 'lazyPostgres', 'lazySqlite'] as const)
    counts.push(...(await countSyncs(id, [1, 32], { count, folder, postgres })));
  const results = judgeSyncs(counts);
  printSyncs(counts, results);
  const content = { name: 'fsync-count', date: new Date().toISOString(), results, counts };
  await mkdir(dirname(report), { recursive: true });
  await writeFile(report, `${JSON.stringify(content, null, 2)}\n`);
  console.log(`\nWritten to ${relative(process.cwd(), report)}.`);
  process.exitCode = results.every(({ met }) => met) ? 0 : 1;
}
