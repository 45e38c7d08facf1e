import { groupOf, isPaid, type StatementRow } from './statement.ts';

/** A row that has no verdict yet. */
export interface Staged {
  /** From 1. */
  readonly place: number;
  readonly given: StatementRow;
  /** How many rows of its reference and type are paid: 0, 1, or 2 for more. */
  readonly paid: number;
}

/** The rows of one statement, outside the memory of the process. */
export interface Staging {
  /** A row whose reference the statement lists. @param judged False for a row that has a verdict already. */
  add(place: number, given: StatementRow, judged?: boolean): void;
  /** All rows without a verdict, in their order. Nothing can be added any more. */
  staged(): Generator<readonly Staged[]>;
  /** Marks a row that its statement can settle. */
  mark(place: number): void;
  marked(): Generator<readonly Staged[]>;
  has(row: Pick<StatementRow, 'merchant_reference' | 'transaction_type'>): boolean;
  close(): void;
}

const BATCH = 500;
const PAID = 'select 1 from stated p where p.listed = s.listed and p.is_paid limit 2';

/**
 * A private database of SQLite without a name: a file in the folder for temporary files, which the system removes when it is
 * closed, even after a crash. A row can only be judged when all are known, and a statement may be larger than the memory
 * (decision D71).
 */
export async function openStaging(): Promise<Staging> {
  // Loaded here: on Node 22, the import prints a warning.
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync('');
  database.exec(`pragma journal_mode = off; pragma synchronous = off;
create table stated (place integer primary key, listed text, is_paid integer, given text, is_marked integer default 0);
begin`);
  const insert = database.prepare('insert into stated (place, listed, is_paid, given) values (?, ?, ?, ?)');
  const isListed = database.prepare('select 1 from stated where listed = ? limit 1');
  const mark = database.prepare('update stated set is_marked = 1 where place = ?');
  function* batches(condition: string): Generator<readonly Staged[]> {
    const page = database.prepare(`select place, given, (select count(*) from (${PAID})) as paid from stated s
where place > ? and ${condition} order by place limit ${BATCH}`);
    for (let last = 0; ; ) {
      const rows = page.all(last);
      if (rows.length === 0) return;
      yield rows.map(({ place, given, paid }) => ({
        place: Number(place),
        given: JSON.parse(String(given)) as StatementRow,
        paid: Number(paid),
      }));
      last = Number(rows.at(-1)?.['place']);
    }
  }
  return {
    add: (place, given, judged = false) => {
      insert.run(
        place,
        groupOf(given),
        Number(!judged && isPaid({ given })),
        judged ? null : JSON.stringify(given),
      );
    },
    *staged() {
      database.exec('create index by_listed on stated (listed, is_paid)');
      yield* batches('given is not null');
    },
    mark: (place) => void mark.run(place),
    marked: () => batches('is_marked'),
    has: (row) => isListed.get(groupOf(row)) !== undefined,
    close: () => database.close(),
  };
}
