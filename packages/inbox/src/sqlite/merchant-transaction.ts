import type { TransactionGuard } from '../transaction-guard.ts';
import { refuseSeveralStatements } from './several-statements.ts';
import { SqliteError } from './sqlite-error.ts';
import type { SqliteThread } from './sqlite-thread.ts';
import type { SqliteTransaction } from './sqlite-transaction.ts';

/** What a handler and the body of `transaction()` get on SQLite. */
export function merchantTransaction(thread: SqliteThread, guard: TransactionGuard): SqliteTransaction {
  return {
    query: (text, values = []) =>
      guard.run(text, 'sqlite', async () => {
        refuseSeveralStatements(text);
        try {
          return await thread.request({ kind: 'query', text, values });
        } catch (error) {
          if (error instanceof SqliteError && !error.isInTransaction) guard.fail(endedBy(error));
          throw error;
        }
      }),
  };
}

/** Every statement after it would be committed by itself. */
function endedBy(error: unknown): Error {
  return new Error(
    'SQLite has rolled this transaction back with the statement that failed: nothing of it is kept, and nothing more ' +
      'can run in it.',
    { cause: error },
  );
}
