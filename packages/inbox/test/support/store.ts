import type { Store } from '../../src/index.ts';

type Rows = Awaited<ReturnType<Store<unknown>['query']>>;

/**
 * The same store, with a hook between it and the inbox.
 *
 * @param watch called instead of every statement, which `run` runs.
 */
export function watchedStore<Tx>(
  store: Store<Tx>,
  watch: (text: string, run: () => Promise<Rows>) => Promise<Rows>,
): Store<Tx> {
  return {
    ...store,
    query: (statement, ...rest) => watch(statement.text, () => store.query(statement, ...rest)),
  };
}

/** A hook for `watchedStore()`: runs `act` after every statement of a kind, before the inbox receives its rows. */
export function after(
  isMeant: (text: string) => boolean,
  act: (rows: Rows) => unknown,
): (text: string, run: () => Promise<Rows>) => Promise<Rows> {
  return async (text, run) => {
    const rows = await run();
    if (isMeant(text)) await act(rows);
    return rows;
  };
}

/** The statements of a worker: its look for what is due, the start of an attempt, its settlement and its failure. */
export const isLook = (text: string): boolean => text.includes('limit 50');
export const isStart = (text: string): boolean => text.includes('unfinished = unfinished + 1');
export const isSettlement = (text: string): boolean => text.includes("set state = 'settled'");
export const isFailure = (text: string): boolean => text.includes('set unfinished = 0, state = $3');
