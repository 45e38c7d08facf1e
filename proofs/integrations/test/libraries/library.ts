import type { Store } from '@payment-service/inbox';

/** The merchant's table `credit`, through the library's own API: no SQL of the test. */
export interface Credits {
  /** Without an id, the database gives one. */
  add(reference: string, amount: string, id?: number): Promise<unknown>;
  amounts(reference: string): Promise<readonly string[]>;
}

/** A library on a database, as in a merchant's program. */
export interface Library<Tx> {
  newStore(schema: string): Store<Tx>;
  /** In the transaction, or through the library's root client. */
  credits(tx?: Tx): Credits;
  /** Runs SQL of the merchant in the transaction. */
  run(tx: Tx, text: string): PromiseLike<unknown>;
  /** The library's own calls that end a transaction. */
  readonly endings?: Readonly<Record<string, (tx: Tx) => PromiseLike<unknown>>>;
  /** A transaction in the transaction, if the library has them. */
  nest?(tx: Tx, body: (nested: Tx) => Promise<unknown>): PromiseLike<unknown>;
  /** The merchant's own transaction. */
  transaction(body: (tx: Tx) => Promise<void>): Promise<unknown>;
  close(): Promise<unknown>;
}

export type Open<Tx> = (connectionString: string) => Promise<Library<Tx>>;
