import type { SqliteConnection } from './connection.ts';
import { tables } from './sqlite-tables.ts';

export interface Claimant {
  readonly connection: SqliteConnection;
  /** For counts that must outlive the process and need not outlive the machine. */
  readonly relaxed: () => SqliteConnection;
  readonly account: string;
  readonly now: number;
}

/**
 * Counts the start of the next due transition, and opens the transaction around it with a savepoint for its handler.
 * The count comes first: once the transaction is open, nothing else can be written.
 */
export function claim({ connection, relaxed, account, now }: Claimant): Uint8Array | undefined {
  for (;;) {
    const due = nextDue(connection, account, now);
    if (due === undefined) return undefined;
    countStart(relaxed(), due, 1);
    try {
      connection.begin();
    } catch (error) {
      countStart(relaxed(), due, -1);
      throw error;
    }
    if (isDue(connection, due, now)) {
      connection.query('savepoint payment_inbox_handler');
      return due;
    }
    // Another process was faster: this start never happened.
    countStart(connection, due, -1);
    connection.commit();
  }
}

export function countStart(connection: SqliteConnection, transitionId: Uint8Array, count: 1 | -1): void {
  connection.query(
    `insert into ${tables.start} (transition_id, starts) values ($1, $2)
     on conflict (transition_id) do update set starts = starts + excluded.starts`,
    { $1: transitionId, $2: count },
  );
}

function nextDue(connection: SqliteConnection, account: string, now: number): Uint8Array | undefined {
  const { rows } = connection.query(
    `select transition_id from ${tables.transition}
     where account = $1 and state in ('pending', 'retrying') and next_at <= $2 order by next_at, id limit 1`,
    { $1: account, $2: now },
  );
  const id = rows[0]?.['transition_id'];
  return id instanceof Uint8Array ? id : undefined;
}

function isDue(connection: SqliteConnection, transitionId: Uint8Array, now: number): boolean {
  const { rows } = connection.query(
    `select 1 as due from ${tables.transition}
     where transition_id = $1 and state in ('pending', 'retrying') and next_at <= $2`,
    { $1: transitionId, $2: now },
  );
  return rows.length === 1;
}
