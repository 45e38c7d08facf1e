import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { PostgresServer } from '@payment-service/postgres-server';
import { CONTENDERS, type ContenderId } from '../inbox/contender.ts';
import { hostContender } from '../inbox/hosted-contender.ts';
import { freshCallbacks } from '../load/callbacks.ts';
import { sendCallbacks } from '../load/sender.ts';
import { syncsDuring, traceSyncs, withoutSync } from './sync-trace.ts';

export interface SyncCount {
  readonly id: ContenderId;
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
  id: ContenderId,
  concurrencies: readonly number[],
  count: number,
  { folder, postgres }: { readonly folder: string; readonly postgres: PostgresServer },
): Promise<readonly SyncCount[]> {
  const { name, engine } = CONTENDERS[id];
  const own = await mkdtemp(join(folder, `${id}-`));
  const engines = { postgresUrl: postgres.url, folder: own, redisPort: undefined };
  const contender = await hostContender(id, engines);
  const counts: SyncCount[] = [];
  try {
    for (const concurrency of concurrencies) {
      // Its connections are there before, and what they prepare.
      await sendCallbacks(contender.port, freshCallbacks(`warm-${concurrency}`, 100), concurrency);
      const traced = engine === 'postgres' ? await postgres.processIds() : [contender.pid];
      const endTrace = await traceSyncs(traced, LOG_FILES[engine], join(own, `strace-${concurrency}`));
      const sent = await sendCallbacks(contender.port, freshCallbacks(`c${concurrency}`, count), concurrency);
      const syncs = await endTrace();
      const { spans } = sent;
      const [during, without] = [syncsDuring(spans, syncs), withoutSync(spans, syncs)];
      const acknowledgements = spans.length;
      counts.push({ id, name, concurrency, acknowledgements, syncs: during, withoutSync: without });
    }
  } finally {
    await contender.close();
  }
  return counts;
}
