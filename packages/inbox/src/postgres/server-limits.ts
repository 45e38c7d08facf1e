/** The longest that PostgreSQL takes. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * The server's own limits for a caller who waits `ms` milliseconds. They are a little shorter, so that the server gives
 * up first: what a caller was told has failed does not go on there, and its connection stays usable. A wait for a lock
 * ends with 55P03, any other statement with 57014; a transaction that nobody goes on with ends with its connection.
 *
 * @param scope `local` for the transaction that is open, `session` for a connection that nobody else gets.
 */
export function serverLimits(ms: number, scope: 'local' | 'session'): string {
  const part = (share: number): number => Math.min(LONGEST_MS, Math.max(1, Math.floor(ms * share)));
  return (
    `set ${scope} lock_timeout = ${part(0.9)}; set ${scope} statement_timeout = ${part(0.95)}; ` +
    `set ${scope} idle_in_transaction_session_timeout = ${part(1)}`
  );
}
