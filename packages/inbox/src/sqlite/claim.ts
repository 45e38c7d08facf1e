import type { SqliteConnection } from './connection.ts';
import { tables } from './sqlite-tables.ts';
import type { StartCounter } from './start-counter.ts';

export interface Claimant {
  readonly connection: SqliteConnection;
  readonly starts: StartCounter;
  readonly account: string;
  readonly now: number;
}

/** Opens the transaction around the next due transition. Nothing is written for it, so there is nothing to take back. */
export function claim({ connection, starts, account, now }: Claimant): Uint8Array | undefined {
  // Read before the write lock is taken: a worker that has nothing to do keeps nobody waiting.
  while (nextDue(connection, account, now) !== undefined) {
    connection.begin();
    try {
      if (!starts.countUnfinished()) {
        const due = nextDue(connection, account, now);
        if (due !== undefined) return due;
      }
      connection.commit();
    } catch (error) {
      connection.rollback();
      throw error;
    }
  }
  return undefined;
}

/** Counts the start of a handler inside the transaction, and sets the savepoint to which its failure goes back. */
export function startHandler(
  { connection, starts }: Pick<Claimant, 'connection' | 'starts'>,
  transitionId: Uint8Array,
): void {
  starts.count(transitionId);
  connection.execute('savepoint payment_inbox_handler');
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
