/**
 * `pnpm fsync-count [--count N] [--report path]`: acknowledges callbacks over HTTP while strace records every fsync and
 * fdatasync of the engine's write-ahead log, and then checks for each acknowledgement: was there a sync that began after the
 * request and ended before the response? The controls respond before anything is on disk, and must show that there was none.
 * Needs strace, and exits with 1 if it is not installed or if a target is missed.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@payment-service/postgres-server';
import { isLazy } from '../inbox/contenders.ts';
import { hostContender } from '../inbox/measure.ts';
import { freshCallbacks } from '../load/callbacks.ts';
import { sendCallbacks } from '../load/sender.ts';
import { installed } from '../measure/daemon.ts';
import { atTheEnd, makeFolder, readFlags, runProgram } from '../measure/program.ts';
import { type Bound, judge, type Result } from '../measure/results.ts';
import { syncsDuring, traceSyncs, withoutSync } from './sync-trace.ts';

const { count, report } = readFlags({ count: 300 });
interface SyncCount {
  readonly name: string;
  readonly concurrency: number;
  readonly acknowledgements: number;
  /** Syncs of the write-ahead log while callbacks were under way. */
  readonly syncs: number;
  /** Acknowledgements without a sync between the request and the response. */
  readonly withoutSync: number;
}

const LOG_FILES = { postgres: /\/pg_wal\//, sqlite: /\.db-wal$/ };

const missing = installed('strace');
if (missing !== undefined) {
  console.error(missing);
  process.exitCode = 1;
} else {
  await runProgram({ name: 'fsync-count', report }, async () => {
    const folder = await makeFolder();
    // The server's background writers would sync in time for any caller that waits long enough, so they are slowed down.
    const postgres = await startPostgres({ wal_writer_delay: '10000', checkpoint_timeout: '1h' });
    atTheEnd(() => postgres.stop());
    const counts: SyncCount[] = [];
    for (const kind of ['inbox', 'control'])
      for (const engine of ['postgres', 'sqlite'] as const)
        counts.push(...(await countSyncs(kind, engine, folder, postgres)));
    const table = {
      title: 'Syncs',
      head: ['', 'at a time', 'acknowledgements', 'syncs of the log', 'without a sync', ''],
      rows: counts.map(({ name, ...counted }) => [name, ...Object.values(counted).map(String), '']),
    };
    return { results: counts.flatMap(judgeSyncs), tables: [table], counts };
  });
}

/** One contender, with one callback at a time and with several. */
async function countSyncs(
  kind: string,
  engine: keyof typeof LOG_FILES,
  folder: string,
  postgres: PostgresServer,
): Promise<readonly SyncCount[]> {
  const own = await mkdtemp(join(folder, 'syncs-'));
  const name = `${kind}, ${engine}`;
  const { host, port } = await hostContender(name, { postgresUrl: postgres.url, folder: own });
  const counts: SyncCount[] = [];
  try {
    for (const concurrency of [1, 32]) {
      // Its connections and their prepared statements exist beforehand.
      await sendCallbacks(port, freshCallbacks(`warm-${concurrency}`, 100), concurrency);
      const traced = engine === 'postgres' ? await postgres.processIds() : [host.pid];
      const endTrace = await traceSyncs(traced, LOG_FILES[engine], join(own, `strace-${concurrency}`));
      const { spans } = await sendCallbacks(port, freshCallbacks(`c${concurrency}`, count), concurrency);
      const syncs = await endTrace();
      const [during, without] = [syncsDuring(spans, syncs), withoutSync(spans, syncs)];
      const acknowledgements = spans.length;
      counts.push({ name, concurrency, acknowledgements, syncs: during, withoutSync: without });
    }
  } finally {
    await host.end();
  }
  return counts;
}

/** The inbox: a sync for each acknowledgement, or for its group. The controls: none for most of them. */
function judgeSyncs({ name, concurrency, acknowledgements, syncs, withoutSync }: SyncCount): Result[] {
  const title = `${name}, ${concurrency} at a time`;
  const without = (bound: Bound, target: number): Result =>
    judge(`${title}: acknowledged without a sync`, 'acknowledgements', withoutSync, bound, target);
  if (isLazy(name)) return [without('at least', acknowledgements / 2)];
  const all = judge(`${title}: syncs`, 'syncs', syncs, 'at least', acknowledgements);
  return concurrency > 1 ? [without('at most', 0)] : [without('at most', 0), all];
}
