import { hash } from 'node:crypto';
import { failureCode } from '../../events.ts';
import { type Call, NotPrepared, type Row, type SqlValue, type Statement } from '../store.ts';
import type { PostgresClient } from './connection.ts';

/** The statements that are prepared on a connection, for all stores on its pool. */
const KNOWN = new WeakMap<PostgresClient, Set<string>>();

/**
 * Several statements in one message, which is one round trip. Such a message cannot bind values, so they are written into the
 * text. Under READ COMMITTED each of its statements has a snapshot of its own: a statement after a lock sees everything that
 * was committed before the lock was released.
 */
export class Messages {
  /** False behind a pooler that may run each transaction on a different connection. */
  canExecute = true;

  /** The statements that this connection does not know yet, for `prepare()`. */
  unknown(client: PostgresClient, statements: readonly Statement[]): readonly Statement[] {
    if (!this.canExecute) return [];
    const known = KNOWN.get(client);
    return statements.filter(({ text, isPrepared }) => isPrepared && !known?.has(text));
  }

  /** Runs before a transaction, since an error would fail it. */
  async prepare(client: PostgresClient, statements: readonly Statement[]): Promise<void> {
    const known = KNOWN.get(client) ?? new Set();
    KNOWN.set(client, known);
    try {
      for (const { text } of statements) {
        await client.query(`prepare ${executedName(text)} as ${text}`);
        known.add(text);
      }
    } catch (error) {
      if (!isUnprepared(error)) throw error;
      this.canExecute = false;
    }
  }

  /** @throws {NotPrepared} If another connection ran it, or no connection has prepared it. */
  async send(
    client: PostgresClient,
    before: string,
    calls: readonly Call[],
    after = '',
  ): Promise<readonly (readonly Row[])[]> {
    const texts = calls.map(({ statement, values }) => this.#textOf(statement, values));
    try {
      const results: unknown = await client.query(
        [before, ...texts, after].filter((text) => text !== '').join(';\n'),
      );
      const all: readonly { rows: Row[] }[] = Array.isArray(results) ? results : [results];
      return texts.map((_, index) => all[index + (before === '' ? 0 : 1)]?.rows ?? []);
    } catch (error) {
      if (!isUnprepared(error)) throw error;
      this.canExecute = false;
      throw new NotPrepared({ cause: error });
    }
  }

  #textOf({ text, isPrepared }: Statement, values: readonly SqlValue[]): string {
    const given = values.length > 0 ? `(${values.map(literal).join()})` : '';
    if (isPrepared && this.canExecute) return `execute ${executedName(text)}${given}`;
    return text.replace(/\$(\d+)/g, (_, number) => literal(values[Number(number) - 1] ?? null));
  }
}

/** Unknown there, or already known: behind some poolers, each statement may run on a different connection. */
export function isUnprepared(error: unknown): boolean {
  return ['26000', '42P05'].includes(failureCode(error));
}

const NAMES = new Map<string, string>();

/** Named after its text, since a pooler may lend the connection to another version of the inbox. */
export function preparedName(text: string): string {
  const known = NAMES.get(text) ?? `payment_inbox_${hash('sha256', text).slice(0, 16)}`;
  NAMES.set(text, known);
  return known;
}

/** Differs from the name under which the driver prepares the same text. */
function executedName(text: string): string {
  return `${preparedName(text)}_x`;
}

/** Works with every value of standard_conforming_strings. */
function literal(value: SqlValue): string {
  if (value === null) return 'null';
  const text = String(value).replaceAll("'", "''");
  return text.includes('\\') ? `E'${text.replaceAll('\\', '\\\\')}'` : `'${text}'`;
}
