import type { Store } from '../../src/index.ts';
import type { AnyTransaction } from './merchant.ts';

/** A store that counts what the inbox asks of it, and lets a test come in between. */
export interface CountingStore extends Store<AnyTransaction> {
  /** The texts in order; BEGIN and COMMIT are among them. */
  readonly statements: string[];
  /** Transactions, those of single statements included. */
  readonly transactions: () => number;
}

/**
 * The same store.
 *
 * @param instead Called before every statement of the inbox: what it gives takes the place of the rows.
 */
export function countingStore(
  store: Store<AnyTransaction>,
  instead: (text: string) => Promise<readonly [] | undefined> = async () => undefined,
): CountingStore {
  const statements: string[] = [];
  let transactions = 0;
  return {
    ...store,
    statements,
    transactions: () => transactions,
    async query(text, values, tx) {
      const replaced = await instead(text);
      if (replaced !== undefined) return replaced;
      if (tx === undefined) transactions += 1;
      statements.push(text);
      return store.query(text, values, tx);
    },
    transaction(body) {
      transactions += 1;
      statements.push('begin', 'commit');
      return store.transaction(body);
    },
  };
}
