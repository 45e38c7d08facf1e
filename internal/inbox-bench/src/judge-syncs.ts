import type { SyncCount } from './count-syncs.ts';

export interface SyncResult {
  readonly name: string;
  readonly value: number;
  readonly unit: 'acknowledgements' | 'syncs';
  readonly target: number;
  readonly bound: 'at most' | 'at least';
  readonly met: boolean;
}

/** The inbox: a sync for each acknowledgement, or for the group it is in. The controls: for most there was none. */
export function judgeSyncs(counts: readonly SyncCount[]): readonly SyncResult[] {
  return counts.flatMap(({ id, name, concurrency, acknowledgements, syncs, withoutSync }) => {
    const title = `${name}, ${concurrency} at a time`;
    if (id === 'lazyPostgres' || id === 'lazySqlite') {
      return [
        atLeast(
          `${title}: acknowledged without a sync`,
          withoutSync,
          'acknowledgements',
          acknowledgements / 2,
        ),
      ];
    }
    const none = atMost(`${title}: acknowledged without a sync`, withoutSync, 'acknowledgements', 0);
    if (concurrency > 1) return [none];
    return [none, atLeast(`${title}: syncs`, syncs, 'syncs', acknowledgements)];
  });
}

export function printSyncs(counts: readonly SyncCount[], results: readonly SyncResult[]): void {
  printRows([
    ['', 'at a time', 'acknowledgements', 'syncs of the log', 'without a sync'],
    ...counts.map(({ name, concurrency, acknowledgements, syncs, withoutSync }) => [
      name,
      ...[concurrency, acknowledgements, syncs, withoutSync].map(String),
    ]),
  ]);
  console.log('\nTargets');
  printRows(
    results.map(({ name, value, bound, target, met }) => [
      name,
      String(value),
      `${bound} ${target}`,
      met ? 'met' : 'MISSED',
    ]),
  );
}

function printRows(rows: readonly (readonly string[])[]): void {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join('   ')}`.trimEnd());
  }
}

function atMost(name: string, value: number, unit: SyncResult['unit'], target: number): SyncResult {
  return { name, value, unit, target, bound: 'at most', met: value <= target };
}

function atLeast(name: string, value: number, unit: SyncResult['unit'], target: number): SyncResult {
  return { name, value, unit, target, bound: 'at least', met: value >= target };
}
