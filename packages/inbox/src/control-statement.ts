import { ConfigurationError } from '@payment-service/core';
import { type Dialect, sqlPieces } from './sql-pieces.ts';

/** So much of a statement says what it does; the longest is EXPLAIN QUERY PLAN PRAGMA with quoted names. */
const BEGINNING = 16;

const TRANSACTION_CONTROL: ReadonlySet<string> = new Set([
  'begin',
  'start',
  'commit',
  'end',
  'rollback',
  'abort',
  'savepoint',
  'release',
]);

/** What SET may not change: the level that the inbox needs, the right to write, and what later transactions begin with. */
const TRANSACTION_SETTINGS: ReadonlySet<string> = new Set([
  'transaction',
  'characteristics',
  'transaction_isolation',
  'transaction_read_only',
  'transaction_deferrable',
  'default_transaction_isolation',
  'default_transaction_read_only',
  'default_transaction_deferrable',
]);

/** PRAGMAs that take a value to look something up, and those whose effect is part of the transaction. */
const PRAGMAS_WITH_VALUE: ReadonlySet<string> = new Set([
  'table_info',
  'table_xinfo',
  'table_list',
  'index_list',
  'index_info',
  'index_xinfo',
  'foreign_key_list',
  'foreign_key_check',
  'integrity_check',
  'quick_check',
  'defer_foreign_keys',
  'user_version',
  'application_id',
  'incremental_vacuum',
  'optimize',
]);

/**
 * Refuses a statement that would end the transaction, or change what it and those after it on the connection are worth.
 * Against mistakes, not against somebody who wants to: a function can do the same.
 *
 * @throws {ConfigurationError}
 */
export function refuseControlStatement(text: string, dialect: Dialect): void {
  const pieces = beginningOf(text, dialect);
  const reason = isTransactionControl(pieces) ? LEAVE_IT : REASONS[dialect](pieces);
  if (reason !== undefined) throw new ConfigurationError('text', reason);
}

/** Engines pass over semicolons before a statement. EXPLAIN is left out: in SQLite it carries some PRAGMAs out. */
function beginningOf(text: string, dialect: Dialect): readonly string[] {
  const pieces: string[] = [];
  for (const piece of sqlPieces(text, dialect)) {
    if (pieces.length === 0 && piece === ';') continue;
    pieces.push(piece);
    if (pieces.length === BEGINNING) break;
  }
  if (dialect === 'postgres' || pieces[0] !== 'explain') return pieces;
  return pieces.slice(pieces[1] === 'query' && pieces[2] === 'plan' ? 3 : 1);
}

function isTransactionControl([first = '', second]: readonly string[]): boolean {
  return TRANSACTION_CONTROL.has(first) || (first === 'prepare' && second === 'transaction');
}

const LEAVE_IT =
  'The inbox begins this transaction, commits it when your code returns, and rolls it back when your code throws: ' +
  'leave BEGIN, COMMIT, ROLLBACK and savepoints to it.';

const REASONS: Readonly<Record<Dialect, (pieces: readonly string[]) => string | undefined>> = {
  postgres: reasonOnPostgres,
  sqlite: reasonOnSqlite,
};

function reasonOnPostgres(pieces: readonly string[]): string | undefined {
  // A name in quotes is the same setting.
  const [first, ...rest] = pieces.filter((piece) => piece !== '"');
  if (first === 'set') return changesTransaction(rest) ? SET_TRANSACTION : undefined;
  if (first === 'reset' && TRANSACTION_SETTINGS.has(rest[0] ?? '')) return SET_TRANSACTION;
  const isWhole = rest[0] === 'all' || (rest[0] === 'prepare' && rest[1] === 'all');
  return isWhole && ['reset', 'discard', 'deallocate'].includes(first ?? '') ? WHOLE_CONNECTION : undefined;
}

function changesTransaction(words: readonly string[]): boolean {
  const isLocal = words[0] === 'local';
  const [name = ''] = isLocal || words[0] === 'session' ? words.slice(1) : words;
  // For this transaction alone it is the merchant's choice; afterwards callbacks are acknowledged on the connection.
  return TRANSACTION_SETTINGS.has(name) || (name === 'synchronous_commit' && !isLocal);
}

const SET_TRANSACTION =
  'The inbox needs this transaction to be READ COMMITTED and able to write, and so are those after it on the ' +
  'connection, whose commits must be on disk: leave SET TRANSACTION, SET SESSION CHARACTERISTICS, the settings named ' +
  'transaction_… and default_transaction_…, and synchronous_commit as they are. SET LOCAL synchronous_commit is yours.';

const WHOLE_CONNECTION =
  'The inbox goes on with this connection, its limits and its prepared statements: leave RESET ALL, DISCARD ALL and ' +
  'DEALLOCATE ALL. Name the one thing that you want to undo.';

function reasonOnSqlite(pieces: readonly string[]): string | undefined {
  const [first] = pieces;
  if (first === 'attach' || first === 'detach') return ATTACHED;
  if (first !== 'pragma') return undefined;
  const value = pieces.findIndex((piece) => piece === '=' || piece === '(');
  if (value === -1 || PRAGMAS_WITH_VALUE.has(pieces[value - 1] ?? '')) return undefined;
  return PRAGMA_THAT_STAYS;
}

const ATTACHED =
  'With the write-ahead log a commit is atomic in one file, and an attached database would stay on the connection of ' +
  'the inbox: leave ATTACH and DETACH, and keep what belongs together in one file.';

const PRAGMA_THAT_STAYS =
  'This PRAGMA is no part of the transaction: what it sets would stay on the connection after a rollback, where ' +
  'locking_mode, query_only or fullfsync stop the inbox or put what it acknowledges at risk. Read a PRAGMA without a ' +
  'value; those that may have one are defer_foreign_keys, user_version, application_id and those that look something up.';
