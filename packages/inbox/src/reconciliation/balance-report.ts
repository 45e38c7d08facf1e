import { NotFoundError } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
  RECORD,
} from '@payment-service/core/internal';
import {
  type Movement,
  type MovementKind,
  type Reconciliation,
  reconcile,
  sumOfProducts,
  type WalletBalance,
} from '@payment-service/core/reconcile';
import { sumsOf, totalSettled } from '../operator/hours.ts';
import type { OperatorContext } from '../operator/reports.ts';
import { DATE } from '../option-rules.ts';
import { choiceOf, numberOf, type Row, textOf } from '../store/store.ts';
import type { Comparison } from '../verdict/evaluate.ts';
import { COMPARISONS, jsonIn, jsonTextOf } from '../verdict/stored-values.ts';

/** A period, on the clock of the database. */
export interface Period {
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

/** What was settled in a period: your own expectations, not what callbacks claim. */
export interface SettledTotal {
  readonly currency: string;
  readonly transaction_type: string;
  /** With `'request'`, another amount may have reached the wallet: the amount of the transaction was not compared. */
  readonly compare: Comparison;
  readonly count: number;
  /** Canonical decimal string, exact. */
  readonly amount: string;
}

/** Options of `reconcile()`. Facts that the protocol does not show are inputs here. */
export interface BalanceOptions extends Period {
  /**
   * When a collection is credited, counted from its settlement here, in seconds: at most this long before it, since a callback
   * may be late, and at most this long after it. A settlement that may be on either side of an inquiry widens the interval.
   */
  readonly creditedWithin: { readonly secondsBefore: number; readonly secondsAfter: number };
  /**
   * What a transaction type does to a wallet. A type that is not listed is reported in `uncounted`. @default { COLLECTION:
   * 'settled' }
   */
  readonly kinds?: Readonly<Record<string, MovementKind>> | undefined;
  /**
   * By currency, the smallest and largest share of an amount that is kept as a charge, as decimals: `{ UGX: { least: '0', most:
   * '0.03' } }`.
   *
   * @default anything from nothing to the whole amount
   */
  readonly charges?: Readonly<Record<string, { readonly least: string; readonly most: string }>> | undefined;
  /** Movements that the inbox cannot know: deposits, transfers, withdrawals, payouts. */
  readonly movements?: readonly Movement[] | undefined;
}

/** The result of `reconcile()`. */
export interface BalanceReport extends Reconciliation {
  /** When the snapshot nearest to `from` was recorded. */
  readonly before: Date;
  /** When the snapshot nearest to `to` was recorded. */
  readonly after: Date;
  /** What they were compared with: the settlements and the given movements. */
  readonly movements: readonly Movement[];
  /** Settlements that no interval includes: of a type without a kind, or compared by the request only. */
  readonly uncounted: readonly SettledTotal[];
}

const IS_SECONDS = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const SECONDS = [IS_SECONDS, 'a whole number of seconds, 0 or more', true] as const;
const WITHIN_RULES = { secondsBefore: SECONDS, secondsAfter: SECONDS };
export const PERIOD: OptionRules<Period> = { from: [DATE[0], DATE[1], true], to: [DATE[0], DATE[1], true] };
const RULES: OptionRules<BalanceOptions> = {
  ...PERIOD,
  creditedWithin: [RECORD[0], '{ secondsBefore, secondsAfter }: the protocol does not show it', true],
  kinds: [RECORD[0], 'a map from a transaction type to a kind of movement'],
  charges: [isShares, 'a map from a currency to { least, most }, decimal shares such as "0.03"'],
  movements: [Array.isArray, 'a list of movements'],
};

/** Refuses now what reconcile() would refuse later. */
const WALLETS: OptionRule = [
  (value) => {
    const wallets = value as readonly WalletBalance[];
    return reconcile(wallets, wallets, []).wallets.length > 0;
  },
  'the wallets of getWalletBalances()',
];

function isShares(value: unknown): boolean {
  const isShare = (share: unknown): boolean => typeof share === 'string' && /^\d+(\.\d+)?$/.test(share);
  return Object.values(Object(value)).every((each) => [Object(each).least, Object(each).most].every(isShare));
}

/** @throws {ConfigurationError} For wallets that were not returned by `getWalletBalances()`. */
export async function keepBalances<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  wallets: readonly WalletBalance[],
): Promise<void> {
  checkArgument('recordBalances()', 'wallets', wallets, WALLETS);
  const kept = wallets.map(({ currency, wallet_type, exact }) => ({ currency, wallet_type, exact }));
  await statements.run('keep_balances', [settings.account, JSON.stringify(kept)]);
}

export async function readTotals<Tx>(context: OperatorContext<Tx>, period: Period): Promise<SettledTotal[]> {
  checkOptions('totals()', period, PERIOD);
  return totalsIn(await totalSettled(context, period.from.getTime(), period.to.getTime()));
}

export async function readReport<Tx>(
  context: OperatorContext<Tx>,
  options: BalanceOptions,
): Promise<BalanceReport> {
  checkOptions('reconcile()', options, RULES);
  const { creditedWithin, kinds = { COLLECTION: 'settled' }, charges = {}, movements: given = [] } = options;
  checkOptions('reconcile()', creditedWithin, WITHIN_RULES, 'creditedWithin.');
  const [before, after] = [await nearest(context, options.from), await nearest(context, options.to)];
  if (before === undefined || after === undefined || before.at >= after.at) {
    const what =
      'There are not two snapshots of balances near from and to. Call recordBalances() regularly, such as every day.';
    throw new NotFoundError(what);
  }
  const [beforeMs, afterMs] = [creditedWithin.secondsBefore * 1000, creditedWithin.secondsAfter * 1000];
  // Credited no earlier than beforeMs before it was settled here, and no later than afterMs after it.
  const rows = await totalSettled(context, before.at - afterMs, after.at + beforeMs + 1, {
    from: before.at + beforeMs,
    to: after.at - afterMs,
  });
  const isCounted = (row: Row): boolean =>
    Object.hasOwn(kinds, jsonTextOf(row, 'transaction_type')) && textOf(row, 'compare') !== 'request';
  const [counted, uncounted] = [rows.filter(isCounted), rows.filter((row) => !isCounted(row))];
  const settled = [1, 0].flatMap((certain) =>
    totalsIn(counted.filter((row) => numberOf(row, 'certain') === certain)).map((total): Movement => {
      const { currency, transaction_type, amount } = total;
      const share = Object.hasOwn(charges, currency) ? charges[currency] : undefined;
      const part = (end: 'least' | 'most'): string => sumOfProducts([[amount, share?.[end] ?? '']]);
      const charge = share && { least: part('least'), most: part('most') };
      const kind = kinds[transaction_type] ?? 'settled';
      return { kind, currency, amount, charge, isCertain: certain === 1 };
    }),
  );
  const movements = [...settled, ...given];
  const found = reconcile(before.wallets, after.wallets, movements);
  for (const { currency, wallet_type: walletType, verdict } of found.wallets)
    if (verdict !== 'explained')
      context.settings.emit({ name: 'balance.unexplained', currency, walletType, verdict });
  const times = { before: new Date(before.at), after: new Date(after.at) };
  return { ...found, ...times, movements, uncounted: totalsIn(uncounted) };
}

async function nearest<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  to: Date,
): Promise<{ readonly at: number; readonly wallets: readonly WalletBalance[] } | undefined> {
  const [row] = await statements.run('nearest_balances', [settings.account, to.getTime()]);
  return row && { at: numberOf(row, 'taken_at'), wallets: jsonIn(row, 'wallets') as WalletBalance[] };
}

/** Sums what has the same currency, type and comparison. */
function totalsIn(rows: readonly Row[]): SettledTotal[] {
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify([row['currency'], row['transaction_type'], row['compare']]),
  );
  return [...groups.values()].flatMap((same) => {
    const [first = {}] = same;
    const compare = choiceOf(first, 'compare', COMPARISONS);
    return sumsOf(same).map(({ type, ...sum }) => {
      return { ...sum, transaction_type: jsonTextOf({ type }, 'type'), compare };
    });
  });
}
