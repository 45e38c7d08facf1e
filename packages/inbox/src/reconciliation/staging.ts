import type { StatementVerdict } from '../states.ts';
import type { LineKind } from './line-class.ts';
import type { StatementLine } from './statement-report.ts';

/** How a line is found by the others of its file. */
export interface LineKeys {
  readonly reference: string | null;
  readonly type: string | null;
  readonly id: string | null;
  /** Canonical. */
  readonly amount: string | null;
  readonly kind: LineKind | null;
}

/** What all lines of a file say together about the payment of one of them. */
export interface StatedFacts {
  /** Paid lines of its reference and type; 2 for more. */
  readonly ins: number;
  /** Lines of money out of its reference and type; 2 for more. */
  readonly outs: number;
  /** A line of its reference says that it was reversed. */
  readonly isReversed: boolean;
  /** Money went out under its reference, whatever the type; or a charge of the same amount. */
  readonly isReturned: boolean;
  /** The same transaction is paid, and has failed. */
  readonly isFailed: boolean;
  /** Another payment has the id of its transaction as well. */
  readonly isShared: boolean;
  /** A line of its reference, or of its id, was not understood. */
  readonly isUnclear: boolean;
}

/** A line of a payment, with what its file says of that. */
export interface Staged {
  readonly place: number;
  readonly line: StatementLine;
  readonly facts: StatedFacts;
}

/** A line with its verdict, or a settlement without a line. */
export interface Judged extends Omit<StatementLine, 'line' | 'verdict'> {
  readonly line: number | undefined;
  readonly verdict: StatementVerdict;
  readonly transitionId?: string | undefined;
}

/** The lines of one statement, outside the memory of the process. */
export interface Staging {
  add(place: number, line: StatementLine, keys: LineKeys): void;
  /** What a spreadsheet has made of long ids, once all lines are there: all that have more than 15 digits end in zeros. */
  areIdsRounded(): boolean;
  /** The lines that belong to a payment, in their order. Nothing can be added any more. */
  payments(): Generator<readonly Staged[]>;
  /** @param isDue It can settle its payment. */
  judge(place: number, judged: Judged, isDue: boolean): void;
  due(): Generator<readonly Staged[]>;
  /** Whether a line has the reference and the type. */
  has(reference: string, type: string): boolean;
  /** All lines in the order of the file, in batches. */
  judged(): Generator<readonly Judged[]>;
  close(): void;
}

const BATCH = 500;
/** Kinds of lines whose id is of their own payment: a fee may have that of the payment that it is for. */
const OWNERS = "('in', 'out', 'reversed', 'failed', 'interim')";
const countOf = (kind: LineKind): string => `(select count(*) from (select 1 from line p
  where p.reference = s.reference and p.kind = '${kind}' and p.type = s.type limit 2))`;
const isAny = (...lines: readonly string[]): string =>
  `json(iif(${lines.map((line) => `exists (select 1 from line p where ${line})`).join(' or ')}, 'true', 'false'))`;
/** `StatedFacts` as JSON. Each is one step in an index, even if a whole file has one reference and one id. */
const FACTS = `json_object(
  'ins', ${countOf('in')},
  'outs', ${countOf('out')},
  'isReversed', ${isAny("p.reference = s.reference and p.kind = 'reversed'")},
  'isReturned', ${isAny(
    "p.reference = s.reference and p.kind = 'out'",
    "p.reference = s.reference and p.kind = 'charge' and p.amount = s.amount",
  )},
  'isFailed', ${isAny("p.id = s.id and p.kind = 'failed'")},
  'isShared', ${isAny(
    `p.id = s.id and p.kind in ${OWNERS} and p.reference < s.reference`,
    `p.id = s.id and p.kind in ${OWNERS} and p.reference > s.reference`,
  )},
  'isUnclear', ${isAny("p.reference = s.reference and p.kind = 'unclear'", "p.id = s.id and p.kind = 'unclear'")})`;

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
create table line (place integer primary key, reference text, type text, id text, amount text, kind text, line text,
  is_due integer default 0);
begin`);
  const insert = database.prepare(
    'insert into line (place, reference, type, id, amount, kind, line) values (?, ?, ?, ?, ?, ?, ?)',
  );
  const judge = database.prepare('update line set line = ?, is_due = ? where place = ?');
  const isListed = database.prepare('select 1 from line where reference = ? and type = ? limit 1');
  function* pages(columns: string, condition: string): Generator<readonly Record<string, unknown>[]> {
    const page = database.prepare(
      `select place, line, ${columns} from line s where place > ? and ${condition} order by place limit ${BATCH}`,
    );
    for (let last = 0; ; ) {
      const rows = page.all(last);
      if (rows.length === 0) return;
      yield rows;
      last = Number(rows.at(-1)?.['place']);
    }
  }
  function* staged(condition: string): Generator<readonly Staged[]> {
    for (const rows of pages(`${FACTS} as facts`, condition))
      yield rows.map(({ place, line, facts }) => ({
        place: Number(place),
        line: JSON.parse(String(line)) as StatementLine,
        facts: JSON.parse(String(facts)) as StatedFacts,
      }));
  }
  return {
    add(place, line, { reference, type, id, amount, kind }) {
      insert.run(place, reference, type, id, amount, kind, JSON.stringify(line));
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
    payments: () => staged(`kind in ${OWNERS}`),
    judge: (place, judged, isDue) => void judge.run(JSON.stringify(judged), isDue ? 1 : 0, place),
    due: () => staged('is_due'),
    has: (reference, type) => isListed.get(reference, type) !== undefined,
    *judged() {
      for (const rows of pages('is_due', 'true'))
        yield rows.map(({ line }) => JSON.parse(String(line)) as Judged);
    },
    close: () => database.close(),
  };
}
