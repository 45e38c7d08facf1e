import type { LineKind, StatedFacts } from './judge.ts';
import type { StatementLine } from './statement.ts';

/** How a line is found by the others of its file. */
export interface LineKeys {
  readonly reference: string | null;
  readonly type: string | null;
  readonly id: string | null;
  /** Canonical. */
  readonly amount: string | null;
  readonly kind: LineKind | null;
}

/** A line, with what its file says of its payment. */
export interface Staged {
  readonly place: number;
  readonly line: StatementLine;
  readonly facts: StatedFacts;
}

/** A line with its verdict. */
export interface Judged {
  readonly line: StatementLine;
  readonly verdict: string;
  readonly detail: string | undefined;
  readonly transitionId: string | undefined;
}

/** The lines of one statement, outside the memory of the process. */
export interface Staging {
  add(place: number, line: StatementLine, keys: LineKeys): void;
  /** What a spreadsheet has made of long ids, once all lines are there: all that have more than 15 digits end in zeros. */
  areIdsRounded(): boolean;
  /** The lines that belong to a payment, in their order. Nothing can be added any more. */
  staged(): Generator<readonly Staged[]>;
  judge(place: number, judgement: Omit<Judged, 'line'>): void;
  /** Marks a line that can settle its payment. */
  mark(place: number): void;
  marked(): Generator<readonly Staged[]>;
  /** Whether a line has the reference and the type. */
  has(reference: string, type: string): boolean;
  /** All lines in the order of the file. */
  judged(): Generator<Judged>;
  close(): void;
}

const BATCH = 500;
/** Kinds of lines whose id is of their own payment: a fee may have that of the payment that it is for. */
const OWNERS = "'in', 'out', 'reversed', 'failed', 'interim'";
/** Each is one step in an index, even if a whole file has one reference and one id. */
const FACTS = `
(select count(*) from (select 1 from line p
  where p.reference = s.reference and p.kind = 'in' and p.type = s.type limit 2)) as ins,
(select count(*) from (select 1 from line p
  where p.reference = s.reference and p.kind = 'out' and p.type = s.type limit 2)) as outs,
exists (select 1 from line p where p.reference = s.reference and p.kind = 'reversed') as is_reversed,
exists (select 1 from line p where p.reference = s.reference and p.kind = 'out')
  or exists (select 1 from line p where p.reference = s.reference and p.kind = 'charge' and p.amount = s.amount) as is_returned,
exists (select 1 from line p where p.id = s.id and p.kind = 'failed') as is_failed,
exists (select 1 from line p where p.id = s.id and p.kind in (${OWNERS}) and p.reference < s.reference)
  or exists (select 1 from line p where p.id = s.id and p.kind in (${OWNERS}) and p.reference > s.reference) as is_shared,
exists (select 1 from line p where p.reference = s.reference and p.kind = 'unclear')
  or exists (select 1 from line p where p.id = s.id and p.kind = 'unclear') as is_unclear`;

/**
 * A private database of SQLite without a name: a file in the folder for temporary files, which the system removes when it is
 * closed, even after a crash. A line can only be judged when all are known, and a statement may be larger than the memory
 * (decision D71).
 */
export async function openStaging(): Promise<Staging> {
  // Loaded here: on Node 22, the import prints a warning.
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync('');
  database.exec(`pragma journal_mode = off; pragma synchronous = off;
create table line (place integer primary key, reference text, type text, id text, amount text, kind text, given text,
  verdict text, detail text, transition_id text, is_marked integer default 0);
begin`);
  const insert = database.prepare(
    'insert into line (place, reference, type, id, amount, kind, given, verdict, detail) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const judge = database.prepare(
    'update line set verdict = ?, detail = ?, transition_id = ? where place = ?',
  );
  const isListed = database.prepare('select 1 from line where reference = ? and type = ? limit 1');
  const mark = database.prepare('update line set is_marked = 1 where place = ?');
  const lineIn = (given: unknown): StatementLine => JSON.parse(String(given)) as StatementLine;
  function* pages(query: string): Generator<readonly Record<string, unknown>[]> {
    const page = database.prepare(`${query} order by place limit ${BATCH}`);
    for (let last = 0; ; ) {
      const rows = page.all(last);
      if (rows.length === 0) return;
      yield rows;
      last = Number(rows.at(-1)?.['place']);
    }
  }
  function* staged(condition: string): Generator<readonly Staged[]> {
    for (const rows of pages(`select place, given, ${FACTS} from line s where place > ? and ${condition}`))
      yield rows.map((row) => ({
        place: Number(row['place']),
        line: lineIn(row['given']),
        facts: {
          ins: Number(row['ins']),
          outs: Number(row['outs']),
          isReversed: row['is_reversed'] === 1,
          isReturned: row['is_returned'] === 1,
          isFailed: row['is_failed'] === 1,
          isShared: row['is_shared'] === 1,
          isUnclear: row['is_unclear'] === 1,
        },
      }));
  }
  return {
    add(place, line, { reference, type, id, amount, kind }) {
      const { verdict = null, detail = null } = line;
      insert.run(place, reference, type, id, amount, kind, JSON.stringify(line), verdict, detail);
    },
    areIdsRounded() {
      database.exec(
        'create index by_payment on line (reference, kind, type, amount); create index by_id on line (id, kind, reference)',
      );
      const [row] = database
        .prepare(
          `select count(*) as long, coalesce(sum(id glob '???????????????0*' and ltrim(substr(id, 16), '0') = ''), 0) as rounded
from line where length(id) > 15 and id not glob '*[^0-9]*'`,
        )
        .all();
      return Number(row?.['long']) > 0 && row?.['long'] === row?.['rounded'];
    },
    staged: () => staged("kind is not null and kind <> 'unclear'"),
    judge: (place, { verdict, detail, transitionId }) =>
      void judge.run(verdict, detail ?? null, transitionId ?? null, place),
    mark: (place) => void mark.run(place),
    marked: () => staged('is_marked'),
    has: (reference, type) => isListed.get(reference, type) !== undefined,
    *judged() {
      for (const rows of pages(
        'select place, given, verdict, detail, transition_id from line where place > ?',
      ))
        for (const { given, verdict, detail, transition_id: id } of rows)
          yield {
            line: lineIn(given),
            verdict: String(verdict),
            detail: detail === null ? undefined : String(detail),
            transitionId: id === null ? undefined : String(id),
          };
    },
    close: () => database.close(),
  };
}
