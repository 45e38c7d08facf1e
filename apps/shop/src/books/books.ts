import { ConfigurationError } from '@payment-service/core';
import { createInbox, type Inbox, type InboxEvent } from '@payment-service/inbox';
import { type Keeping, SetupError } from '../config.ts';
import type { Log } from '../web/page.ts';
import { applyTransitions } from './apply-transition.ts';
import { openPostgresDatabase, openSqliteDatabase, type Transaction } from './database.ts';
import { createOrderStore, ORDER_TABLES, type OrderStore } from './order-store.ts';

/** What survives a restart: orders, payments, and the inbox that turns callbacks into payments. */
export interface Books {
  /** Where they are kept, for people to read. */
  readonly title: string;
  readonly inbox: Inbox<Transaction>;
  readonly orders: OrderStore;
  /** Lets the running handler finish, and closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the books and starts the worker that applies callbacks.
 *
 * @param options.now in milliseconds since 1970.
 * @throws {SetupError} if the database cannot be used, {ConfigurationError} if it would lose what was acknowledged.
 */
export async function openBooks(
  keeping: Keeping,
  { now, log }: { readonly now: () => number; readonly log: Log },
): Promise<Books> {
  const database =
    'databaseUrl' in keeping
      ? openPostgresDatabase(keeping.databaseUrl, log)
      : openSqliteDatabase(keeping.file);
  const inbox = createInbox({ store: database.store, onEvent: (event) => report(event, log) });
  try {
    await inbox.ready();
    await inbox.transaction(async (tx) => {
      for (const statement of [...database.lock, ...ORDER_TABLES]) await tx.query(statement);
    });
  } catch (error) {
    await inbox.close();
    await database.close();
    throw explain(error);
  }
  applyTransitions(inbox, database, now);
  const stop = new AbortController();
  const working = inbox
    .work({ signal: stop.signal })
    .catch((error: unknown) => log(`The inbox's worker ended: ${String(error)}`));
  return {
    title: database.title,
    inbox,
    orders: createOrderStore(database, inbox, now),
    async close() {
      stop.abort();
      await working;
      await inbox.close();
      await database.close();
    },
  };
}

function explain(error: unknown): unknown {
  if (error instanceof ConfigurationError || !(error instanceof Error)) return error;
  const code: unknown = Reflect.get(error, 'code');
  const why = error.message || String(code);
  const message = `The database of DATABASE_URL or INBOX_FILE cannot be used: ${why}. Is it the right one, and is it running?`;
  return new SetupError(message, { cause: error });
}

/**
 * Events that an operator at the console may want to know. They contain no personal data; an id leads to the page of the inbox.
 */
function report(event: InboxEvent, log: Log): void {
  if ('state' in event) {
    const reason = 'reason' in event ? ` (${event.reason})` : '';
    const doubt = 'contradicted' in event && event.contradicted ? ', and a body contradicts it' : '';
    log(`Inbox: ${event.transitionId.slice(0, 12)}… is ${event.state}${reason}${doubt}`);
  } else if ('failure' in event) {
    log(`Inbox: ${event.name} (${event.failure})`);
  }
}
