import { createInbox, type PostgresClient, type Store } from '@payment-service/inbox';

/** So many of the oldest are archived: enough for indexes of several levels. */
const ARCHIVED = 300_000;

/** Archives the oldest payments of a year, and gives what each of them takes from then on, in bytes, and how long it took, in ms. */
export async function measureArchive(
  store: Store<PostgresClient>,
  payments: number,
): Promise<{ readonly bytes: number; readonly ms: number; readonly archived: number }> {
  const inbox = createInbox({ store: { ...store, close: async () => undefined } });
  const days = Math.max(1, Math.ceil(365 - (365 * Math.min(ARCHIVED, payments)) / payments));
  const began = performance.now();
  const { archived } = await inbox.prune({ bodiesOlderThanDays: 100_000, archiveOlderThanDays: days });
  const ms = (performance.now() - began) / archived;
  const [row] = await store.query(
    {
      text: `select sum(pg_total_relation_size(oid)) as bytes from pg_class
      where relname in ('archive', 'archive_kind') and relnamespace = '${store.prefix.slice(0, -1)}'::regnamespace`,
    },
    [],
  );
  await inbox.close();
  if (archived < payments / 100) throw new Error('prune() has archived too few of the generated payments.');
  return { bytes: Number(row?.['bytes']) / archived, ms, archived };
}
