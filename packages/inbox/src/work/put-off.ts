import { LOOKS, type RetrySettings } from '../options.ts';
import { numberOf } from '../store/store.ts';
import type { WorkContext } from './attempt/attempt-stages.ts';

type Context<Tx> = Pick<WorkContext<Tx>, 'statements' | 'settings'>;

/** The longest delays that any program may set: what is due later than this was put off by a clock, whatever its settings. */
const ANY_RETRY = { firstDelayMs: 2 ** 31 - 1, longestDelayMs: 2 ** 31 - 1 };

/**
 * The ids of transitions that are due later than their rule allows, since the clock of the database was ahead when they were
 * written (decision D46). At most 20,000 are looked at.
 *
 * @param retry The settings of the workers. @default no settings are known, so only what none of them can explain is found
 */
export async function findPutOff<Tx>(
  { statements, settings }: Context<Tx>,
  { firstDelayMs, longestDelayMs }: Pick<RetrySettings, 'firstDelayMs' | 'longestDelayMs'> = ANY_RETRY,
): Promise<number[]> {
  const looks = [LOOKS.firstDelayMs, LOOKS.longestDelayMs];
  const values = [settings.account, firstDelayMs, longestDelayMs, ...looks];
  const rows = await statements.run('find_put_off', values, undefined, settings.storeTimeoutMs);
  return rows.map((row) => numberOf(row, 'id'));
}

/** Makes them due. It only writes if there are some, since on SQLite a write would wait for a handler. */
export async function bringBack<Tx>(context: Context<Tx>): Promise<void> {
  const { statements, settings } = context;
  const ids = await findPutOff(context, settings.retry);
  if (ids.length > 0) await statements.run('bring_back', [settings.account, JSON.stringify(ids)]);
}
