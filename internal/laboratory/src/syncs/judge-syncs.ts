import { type Bound, judge, type Result } from '../measure/results.ts';
import type { Table } from '../measure/tables.ts';
import type { SyncCount } from './count-syncs.ts';

/** The inbox: a sync for each acknowledgement, or for the group it is in. The controls: for most there was none. */
export function judgeSyncs(counts: readonly SyncCount[]): readonly Result[] {
  return counts.flatMap(({ id, name, concurrency, acknowledgements, syncs, withoutSync }) => {
    const title = `${name}, ${concurrency} at a time`;
    const without = (bound: Bound, target: number): Result =>
      judge(`${title}: acknowledged without a sync`, 'acknowledgements', withoutSync, bound, target);
    if (id.startsWith('lazy')) return [without('at least', acknowledgements / 2)];
    const all = judge(`${title}: syncs`, 'syncs', syncs, 'at least', acknowledgements);
    return concurrency > 1 ? [without('at most', 0)] : [without('at most', 0), all];
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
