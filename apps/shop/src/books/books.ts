import { DatabaseSync } from 'node:sqlite';
import { ConfigurationError } from '@payment-service/core';
import { createInbox, type Inbox, type SqliteTransaction, sqlite } from '@payment-service/inbox';
import { SetupError } from '../config.ts';
import type { Log } from '../web/page.ts';
import { applyTransitions } from './apply-transition.ts';
import { createOrders, ORDER_TABLES, type Orders } from './orders.ts';

/** What survives a restart: orders, payments, and the inbox that turns callbacks into payments. */
export interface Books {
  readonly inbox: Inbox<SqliteTransaction>;
  readonly orders: Orders;
  /** Lets the running handler finish, and closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the books and starts the worker that applies callbacks.
 *
 * @param file one SQLite file for orders and inbox, so that one transaction changes both.
 * @param now milliseconds since 1970.
 * @throws {SetupError} if the file cannot be used, {ConfigurationError} if it would lose what was acknowledged.
 */
export async function openBooks(file: string, now: () => number, log: Log): Promise<Books> {
  const inbox = createInbox({ store: sqlite(file), statuses: { FAILED: 'failed' } });
  try {
    await inbox.ready();
    await inbox.transaction(async (tx) => {
      for (const statement of ORDER_TABLES) await tx.query(statement);
    });
  } catch (cause) {
    await inbox.close();
    if (cause instanceof ConfigurationError || !(cause instanceof Error)) throw cause;
    const message = `The database INBOX_FILE cannot be used: ${cause.message}. Is it the right file?`;
    throw new SetupError(message, { cause });
  }
  applyTransitions(inbox, now);
  const reading = new DatabaseSync(file, { readOnly: true });
  const stop = new AbortController();
  const working = inbox
    .work({ signal: stop.signal })
    .catch((error: unknown) => log(`The inbox's worker ended: ${String(error)}`));
  return {
    inbox,
    orders: createOrders(reading, inbox),
    async close() {
      stop.abort();
      await working;
      await inbox.close();
      reading.close();
    },
  };
}
