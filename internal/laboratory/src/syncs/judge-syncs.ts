import { judge, type Result } from '../measure/results.ts';
import type { Table } from '../measure/tables.ts';
import type { SyncCount } from './count-syncs.ts';

/** The inbox: a sync for each acknowledgement, or for the group it is in. The controls: for most there was none. */
export function judgeSyncs(counts: readonly SyncCount[]): readonly Result[] {
  return counts.flatMap(({ id, name, concurrency, acknowledgements, syncs, withoutSync }) => {
    const title = `${name}, ${concurrency} at a time`;
    if (id === 'lazyPostgres' || id === 'lazySqlite') {
      return [
        judge(
          `${title}: acknowledged without a sync`,
          'acknowledgements',
          withoutSync,
          'at least',
          acknowledgements / 2,
        ),
      ];
    }
    const none = judge(
      `${title}: acknowledged without a sync`,
      'acknowledgements',
      withoutSync,
      'at most',
      0,
    );
    if (concurrency > 1) return [none];
    return [none, judge(`${title}: syncs`, 'syncs', syncs, 'at least', acknowledgements)];
  });
}

export function syncTable(counts: readonly SyncCount[]): Table {
  return {
    title: 'Syncs',
    head: ['', 'at a time', 'acknowledgements', 'syncs of the log', 'without a sync', ''],
    rows: counts.map(({ name, concurrency, acknowledgements, syncs, withoutSync }) => [
      name,
      ...[concurrency, acknowledgements, syncs, withoutSync].map(String),
      '',
    ]),
  };
}
