import pg from 'pg';
import { createInbox, type Inbox, postgres, sqlite } from '../../../src/index.ts';
import type { AnyTransaction } from '../merchant.ts';

/** A busy machine must not look like an unavailable store. */
const patient = { storeTimeoutMs: 20_000 };

/** The inbox of a program: `postgres <url> <schema>` or `sqlite <path>`. */
export function openInbox(
  engine: string | undefined,
  address: string,
  schema?: string,
): Inbox<AnyTransaction> {
  if (engine !== 'postgres') return createInbox<AnyTransaction>({ store: sqlite(address), ...patient });
  const pool = new pg.Pool({ connectionString: address });
  pool.on('error', () => undefined);
  const store = postgres(pool, schema === undefined ? {} : { schema });
  return createInbox<AnyTransaction>({ store, ...patient });
}
