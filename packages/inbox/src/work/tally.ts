import type { WorkContext } from './attempt/turn.ts';

/** Merges the counts of the receivers, so that stats() reads few rows. On SQLite there is always one row. */
export async function mergeTally<Tx>({
  store,
  statements,
  settings: { account, storeTimeoutMs },
}: Pick<WorkContext<Tx>, 'store' | 'statements' | 'settings'>): Promise<void> {
  if (store.dialect === 'postgres') await statements.run('merge_tally', [account], undefined, storeTimeoutMs);
}
