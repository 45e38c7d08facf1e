import { canonicalAmount } from '@payment-service/core';
import { sumOfProducts } from '@payment-service/core/reconcile';
import { numberOf, type Row, textOf } from '../store/store.ts';
import type { OperatorContext } from './reports.ts';

export const HOUR_MS = 3_600_000;
/** How far a chart may look back. */
const FIRST_MS = 31 * 24 * HOUR_MS;
/** A settlement is committed right after it is written: this long after an hour, none can appear in it. */
const SURE_MS = 10 * 60_000;
/** How many hours one step sums, after a time without a worker. */
const MAX_HOURS = 48;

type Context<Tx> = Pick<OperatorContext<Tx>, 'statements' | 'settings'>;

/**
 * Merges the counts of the receivers, so that counts() reads few rows: on SQLite there is always one row. Then sums what was
 * settled in each hour that is over, so that a chart of a month reads a few rows for each hour. Processes that do the same write
 * the same.
 */
export async function keepSums<Tx>(context: Context<Tx> & Pick<OperatorContext<Tx>, 'store'>): Promise<void> {
  const { store, statements, settings } = context;
  if (store.dialect === 'postgres')
    await statements.run('merge_tally', [settings.account], undefined, settings.storeTimeoutMs);
  const [last = {}] = await statements.run('last_hour', [settings.account]);
  if (last['hour'] === null && last['first'] === null) return;
  const now = await readClock(context);
  if (last['hour'] !== null && numberOf(last, 'hour') + HOUR_MS > now) {
    await statements.run('drop_future_hours', [settings.account, now - HOUR_MS]);
    return;
  }
  const start = last['hour'] === null ? numberOf(last, 'first') : numberOf(last, 'hour') + HOUR_MS;
  const first = Math.max(start - (start % HOUR_MS), now - (now % HOUR_MS) - FIRST_MS);
  const end = Math.min(first + MAX_HOURS * HOUR_MS, now - SURE_MS);
  for (let hour = first; hour + HOUR_MS <= end; hour += HOUR_MS) {
    const sums = sumsOf(await totalSettled(context, hour, hour + HOUR_MS));
    const rows = sums.length === 0 ? [{ currency: '', type: '', amount: '0', count: 0 }] : sums;
    for (const { currency, type, amount, count } of rows)
      await statements.run('keep_hour', [settings.account, hour, currency, type, amount, count]);
  }
}

/** The time of the database, in milliseconds since 1970. */
export async function readClock<Tx>({ statements }: Pick<Context<Tx>, 'statements'>): Promise<number> {
  const [row = {}] = await statements.run('read_clock', []);
  return numberOf(row, 'now');
}

/** What was settled from `from` on and before `to`, grouped by amount, and whether it is `certain`: see total_settled. */
export async function totalSettled<Tx>(
  { statements, settings }: Context<Tx>,
  from: number,
  to: number,
  certain: { readonly from: number; readonly to: number } = { from, to: from },
): Promise<readonly Row[]> {
  const times = [from, to, certain.from, certain.to];
  return statements.run('total_settled', [settings.account, ...times]);
}

/** The exact sums of each currency and type, which is JSON. `times`: how often the amount of each row counts. */
export function sumsOf(
  rows: readonly Row[],
  times: readonly number[] = rows.map((row) => numberOf(row, 'count')),
): { currency: string; type: string; amount: string; count: number }[] {
  const each = rows.map((row, index) => ({ row, times: times[index] ?? 1 }));
  const groups = Map.groupBy(each, ({ row }) => JSON.stringify([row['currency'], row['transaction_type']]));
  return [...groups.values()].map((same) => {
    const [{ row } = { row: {} }] = same;
    return {
      currency: textOf(row, 'currency'),
      type: textOf(row, 'transaction_type'),
      amount: sumOfProducts(same.map((one) => [canonicalAmount(textOf(one.row, 'amount')), one.times])),
      count: same.reduce((sum, one) => sum + numberOf(one.row, 'count'), 0),
    };
  });
}
