import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { PostgresServer } from '@payment-service/postgres-server';
import { CONTENDERS, isLazy } from '../inbox/contenders.ts';
import { hostContender } from '../inbox/measure.ts';
import { freshCallbacks } from '../load/callbacks.ts';
import { sendCallbacks } from '../load/sender.ts';
import { type Bound, judge, type Result } from '../measure/results.ts';
import type { Table } from '../measure/tables.ts';
import { syncsDuring, traceSyncs, withoutSync } from './sync-trace.ts';

interface SyncCount {
  readonly name: string;
  readonly concurrency: number;
  readonly acknowledgements: number;
  /** Of the write-ahead log, while callbacks were under way. */
  readonly syncs: number;
  /** Acknowledgements without a sync between the request and the answer. */
  readonly withoutSync: number;
}

const LOG_FILES = { postgres: /\/pg_wal\//, sqlite: /\.db-wal$/, redis: /\.aof$/ };

/** One contender, with one callback after the other and with several at a time. */
export async function countSyncs(
  name: string,
  concurrencies: readonly number[],
  count: number,
  { folder, postgres }: { readonly folder: string; readonly postgres: PostgresServer },
): Promise<readonly SyncCount[]> {
  const { engine = 'redis' } = CONTENDERS[name] ?? {};
  const own = await mkdtemp(join(folder, 'syncs-'));
  const engines = { postgresUrl: postgres.url, folder: own, redisPort: undefined };
  const { host, port } = await hostContender(name, engines);
  const counts: SyncCount[] = [];
  try {
    for (const concurrency of concurrencies) {
      // Its connections are there before, and what they prepare.
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

/** The inbox: a sync for each acknowledgement, or for the group it is in. The controls: for most there was none. */
export function judgeSyncs(counts: readonly SyncCount[]): readonly Result[] {
  return counts.flatMap(({ name, concurrency, acknowledgements, syncs, withoutSync }) => {
    const title = `${name}, ${concurrency} at a time`;
    const without = (bound: Bound, target: number): Result =>
      judge(`${title}: acknowledged without a sync`, 'acknowledgements', withoutSync, bound, target);
    if (isLazy(name)) return [without('at least', acknowledgements / 2)];
    const all = judge(`${title}: syncs`, 'syncs', syncs, 'at least', acknowledgements);
    return concurrency > 1 ? [without('at most', 0)] : [without('at most', 0), all];
  });
}

export function syncTable(counts: readonly SyncCount[]): Table {
  return {
    title: 'Syncs',
    head: ['', 'at a time', 'acknowledgements', 'syncs of the log', 'without a sync', ''],
    rows: counts.map(({ name, ...counted }) => [name, ...Object.values(counted).map(String), '']),
  };
}
