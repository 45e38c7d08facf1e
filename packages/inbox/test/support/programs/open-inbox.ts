import pg from 'pg';
import { createInbox, type Inbox, postgres, sqlite } from '../../../src/index.ts';
import type { AnyTransaction } from '../merchant.ts';

/** The inbox of a program: `postgres <url> <schema>` or `sqlite <path>`. */
export function openInbox(
  engine: string | undefined,
  address: string,
  schema?: string,
): Inbox<AnyTransaction> {
  if (engine !== 'postgres') return createInbox<AnyTransaction>({ store: sqlite(address) });
  const pool = new pg.Pool({ connectionString: address });
  pool.on('error', () => undefined);
  return createInbox<AnyTransaction>({ store: postgres(pool, schema === undefined ? {} : { schema }) });
}
