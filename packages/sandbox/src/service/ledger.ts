import type { Wallet } from '@payment-service/core/client';
import type { TransactionRecord, WalletRecord, WalletType } from '../state/records.ts';
import type { Reader, Unit } from '../state/store.ts';
import { type Minor, shareOf, toAmount } from './money.ts';
import type { SandboxProvider } from './providers.ts';
import { SandboxRefusal } from './refusal.ts';

/*
 * The wallets (protocol §2.4). What holds after every function here, and is property-tested:
 * actual = available + uncleared + reserve (actual is computed); no balance is negative; uncleared and reserve are the
 * sums of their lots; and the total over all wallets changes only by a collection's credit and by a payout.
 */

const key = (currency: string, walletType: WalletType): string => `${currency}:${walletType}`;

function walletOf(unit: Reader, currency: string, walletType: WalletType): WalletRecord {
  const empty = { currency, walletType, available: 0, uncleared: 0, reserve: 0 };
  return unit.get('wallet', key(currency, walletType)) ?? empty;
}

function putWallet(unit: Unit, wallet: WalletRecord): void {
  const { available, uncleared, reserve, currency } = wallet;
  if (Math.min(available, uncleared, reserve) < 0) {
    throw new RangeError(`A ${wallet.walletType} balance in ${currency} would become negative.`);
  }
  // Beyond 2^53 a JSON number is no longer exact.
  if (!Number.isSafeInteger(available + uncleared + reserve)) {
    throw new SandboxRefusal(
      422,
      'balance_limit',
      `The ${currency} wallet cannot hold that much. Reset the sandbox.`,
    );
  }
  unit.put('wallet', key(currency, wallet.walletType), wallet);
}

/** Makes sure that both wallets of a currency exist: an account has them before the first transaction. */
export function openWallets(unit: Unit, currency: string): void {
  for (const walletType of ['MERCHANT_COLLECTION', 'MERCHANT_PAYOUT'] as const) {
    putWallet(unit, walletOf(unit, currency, walletType));
  }
}

/** Credits a completed collection: the reserve share first, the rest uncleared, or available where clearing takes no time. */
export function creditCollection(
  unit: Unit,
  transaction: TransactionRecord,
  provider: Pick<SandboxProvider, 'clearingSeconds' | 'reserve'>,
  now: number,
): void {
  const { currency, id, totalCredit } = transaction;
  const wallet = walletOf(unit, currency, 'MERCHANT_COLLECTION');
  const reserve = provider.reserve === undefined ? 0 : shareOf(totalCredit, provider.reserve.basisPoints);
  const rest = totalCredit - reserve;
  const clearsAtOnce = provider.clearingSeconds === 0;
  putWallet(unit, {
    ...wallet,
    available: wallet.available + (clearsAtOnce ? rest : 0),
    uncleared: wallet.uncleared + (clearsAtOnce ? 0 : rest),
    reserve: wallet.reserve + reserve,
  });
  const addLot = (bucket: 'uncleared' | 'reserve', amount: Minor, seconds: number): void => {
    if (amount === 0) return;
    const lot = unit.nextId();
    unit.put('lot', lot, {
      id: lot,
      currency,
      bucket,
      amount,
      dueAt: now + seconds * 1000,
      transactionId: id,
    });
  };
  if (!clearsAtOnce) addLot('uncleared', rest, provider.clearingSeconds);
  addLot('reserve', reserve, provider.reserve?.seconds ?? 0);
}

/** What to release ahead of its time. */
export interface Release {
  readonly currency?: string | undefined;
  readonly buckets: readonly ('uncleared' | 'reserve')[];
}

/** Moves what is due, or what `early` names, into the available balance. Answers how many parts were moved. */
export function clear(unit: Unit, now: number, early?: Release): number {
  const due = unit
    .list('lot')
    .filter(
      (lot) =>
        lot.dueAt <= now ||
        (early?.buckets.includes(lot.bucket) === true &&
          (early.currency === undefined || early.currency === lot.currency)),
    );
  for (const { id, currency, bucket, amount } of due) {
    const wallet = walletOf(unit, currency, 'MERCHANT_COLLECTION');
    putWallet(unit, {
      ...wallet,
      available: wallet.available + amount,
      [bucket]: wallet[bucket] - amount,
    });
    unit.remove('lot', id);
  }
  return due.length;
}

function take(unit: Unit, currency: string, walletType: WalletType, amount: Minor): void {
  const wallet = walletOf(unit, currency, walletType);
  if (wallet.available < amount) {
    const has = toAmount(wallet.available, currency);
    const next =
      walletType === 'MERCHANT_PAYOUT'
        ? 'Transfer from the collection wallet first.'
        : 'Collect more, or release what is uncleared (POST /sandbox/clearing).';
    throw new SandboxRefusal(
      422,
      'insufficient_balance',
      `The ${walletType} wallet has ${has} ${currency} available, and ${toAmount(amount, currency)} ${currency} is needed. ${next}`,
      'amount',
    );
  }
  putWallet(unit, { ...wallet, available: wallet.available - amount });
}

function give(unit: Unit, currency: string, walletType: WalletType, amount: Minor): void {
  const wallet = walletOf(unit, currency, walletType);
  putWallet(unit, { ...wallet, available: wallet.available + amount });
}

/** Takes a payout out of the payout wallet. Throws a SandboxRefusal when it has less available. */
export function debitPayout(unit: Unit, currency: string, amount: Minor): void {
  take(unit, currency, 'MERCHANT_PAYOUT', amount);
}

/** Puts a payout that failed back. */
export function refundPayout(unit: Unit, currency: string, amount: Minor): void {
  give(unit, currency, 'MERCHANT_PAYOUT', amount);
}

/** Moves available money from the collection wallet to the payout wallet. */
export function moveToPayout(unit: Unit, currency: string, amount: Minor): void {
  take(unit, currency, 'MERCHANT_COLLECTION', amount);
  give(unit, currency, 'MERCHANT_PAYOUT', amount);
}

/** The wallets as the contract shows them, in whole units. */
export function listWallets(reader: Reader, currency?: string): Wallet[] {
  return reader
    .list('wallet')
    .filter((wallet) => currency === undefined || wallet.currency === currency)
    .sort((a, b) => (key(a.currency, a.walletType) < key(b.currency, b.walletType) ? -1 : 1))
    .map(({ currency, walletType, available, uncleared, reserve }) => ({
      currency,
      wallet_type: walletType,
      available_balance: toAmount(available, currency),
      actual_balance: toAmount(available + uncleared + reserve, currency),
      uncleared_balance: toAmount(uncleared, currency),
      reserve_balance: toAmount(reserve, currency),
    }));
}
