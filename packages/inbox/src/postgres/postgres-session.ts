import { createHash } from 'node:crypto';
import type { Rows, Session, SqlValue } from '../session.ts';
import type { PostgresClient, StatementConfig } from './postgres-pool.ts';
import { readBytea } from './read-bytea.ts';

const BYTEA = 17;
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26]);
const names = new Map<string, string>();

/**
 * The inbox's own statements on a connection: prepared once under a name, so that a repeated one is neither parsed nor
 * planned again.
 */
export function postgresSession(client: PostgresClient): Session {
  return { query: (text, values = []) => runStatement(client, text, values) };
}

export async function runStatement(
  client: PostgresClient,
  text: string,
  values: readonly unknown[],
): Promise<Rows> {
  const { rows, rowCount } = await client.query<Record<string, SqlValue>>(statement(text, values));
  return { rows, rowCount: rowCount ?? 0 };
}

function statement(text: string, values: readonly unknown[]): StatementConfig {
  return { name: nameOf(text), text, values: [...values], types: OWN_TYPES };
}

/** The merchant may have set other parsers for the whole process; the inbox reads its columns in its own way. */
const OWN_TYPES: NonNullable<StatementConfig['types']> = {
  getTypeParser(oid) {
    if (oid === BYTEA) return readBytea;
    return NUMBERS.has(oid) ? Number : (text) => text;
  },
};

/** A name belongs to one text for the whole connection, whichever inbox and schema uses it. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `payment_inbox_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    names.set(text, name);
  }
  return name;
}
