import type { WorkContext } from './attempt/turn.ts';

/** Merges what the receivers have counted, so that stats() reads few rows. On SQLite there is one row to begin with. */
export async function mergeTally<Tx>({
  store,
  statements,
  settings: { account, storeTimeoutMs },
}: Pick<WorkContext<Tx>, 'store' | 'statements' | 'settings'>): Promise<void> {
  if (store.dialect === 'postgres') await statements.run('merge_tally', [account], undefined, storeTimeoutMs);
}
