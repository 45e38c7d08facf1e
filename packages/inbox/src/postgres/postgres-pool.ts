/**
 * What is needed of a `pg` pool and its clients. Structural, so that the inbox imports nothing of `pg`, and a program on
 * SQLite needs neither the package nor its types.
 */
export interface PostgresPool {
  connect(callback: (error: Error | undefined, client: PostgresClient | undefined) => void): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  readonly options: { readonly max?: number | undefined };
}

export interface PostgresClient extends PostgresTransaction {
  query<R extends Record<string, unknown>>(
    config: StatementConfig,
  ): Promise<{ rows: R[]; rowCount: number | null }>;
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null; command: string }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** @param destroy true when the connection must not be used again. */
  release(destroy?: boolean): void;
}

export interface StatementConfig {
  readonly text: string;
  readonly values?: unknown[];
  readonly name?: string;
  readonly queryMode?: 'extended';
  readonly types?: { getTypeParser(oid: number): (text: string) => unknown };
}

/**
 * A transaction on PostgreSQL: the one that a handler runs in, which settles the transition; that of `transaction()`; or
 * one of your own, as a client of `pg` after its BEGIN.
 */
export interface PostgresTransaction {
  /**
   * Runs one statement, as the query() of `pg` does.
   *
   * @throws what `pg` throws when the statement fails; a ConfigurationError for transaction control, for settings of
   * transactions such as SET TRANSACTION, and after the transaction has ended.
   *
   * @example
   * await tx.query('update orders set state = $1 where reference = $2', ['paid', signed.merchant_reference]);
   */
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;
}
