import type { Store } from '../../src/index.ts';

type Rows = Awaited<ReturnType<Store<unknown>['query']>>;

/**
 * The same store, with a test between it and the inbox.
 *
 * @param watch Called instead of every statement, which `run` runs. `isAlone` says that it is a transaction of its own.
 */
export function watchedStore<Tx>(
  store: Store<Tx>,
  watch: (text: string, run: () => Promise<Rows>, isAlone: boolean) => Promise<Rows>,
): Store<Tx> {
  return {
    ...store,
    query: (statement, values, tx, limitMs) =>
      watch(statement.text, () => store.query(statement, values, tx, limitMs), tx === undefined),
  };
}
