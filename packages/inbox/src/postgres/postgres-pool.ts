/**
 * What is needed of a `pg` pool and its clients. Structural, so that the inbox imports nothing of `pg`, and a program on
 * SQLite needs neither the package nor its types.
 */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
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
  ): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;
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

/** The transaction in which a handler runs on PostgreSQL: the same session that settles the transition. */
export interface PostgresTransaction {
  /**
   * Runs one statement, as the query() of `pg` does.
   *
   * @throws what `pg` throws when the statement fails; a ConfigurationError for transaction control and after the
   * handler has ended.
   *
   * @example
   * await tx.query('update orders set state = $1 where reference = $2', ['paid', signed.merchant_reference]);
   */
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;
}
