import type { Wallet } from '@payment-service/core/client';
import type { Work } from '../deliveries/unit-of-work.ts';
import { amountText, shareOf, toAmount } from '../state/money.ts';
import type {
  EntryRecord,
  SandboxProvider,
  TransactionRecord,
  WalletRecord,
  WalletType,
} from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import type { Reader, Unit } from '../state/store.ts';

/*
 * The wallets (protocol §2.4). What holds after every function here, and is property-tested:
 * actual = available + uncleared + reserve (actual is computed); no balance is negative; each balance is the sum of its
 * entries; and the total over all wallets changes only by a collection's credit, a deposit and a payout.
 */

const key = (currency: string, walletType: WalletType): string => `${currency}:${walletType}`;

function walletOf(unit: Reader, currency: string, walletType: WalletType): WalletRecord {
  const empty = { currency, walletType, available: 0, uncleared: 0, reserve: 0 };
  return unit.get('wallet', key(currency, walletType)) ?? empty;
}

function putWallet(unit: Unit, wallet: WalletRecord): void {
  const { available, uncleared, reserve, currency } = wallet;
  // Beyond 2^53 a JSON number is no longer exact.
  if (!Number.isSafeInteger(available + uncleared + reserve)) {
    refuse('balance_limit', `The ${currency} wallet cannot hold that much. Reset the sandbox.`);
  }
  unit.put('wallet', key(currency, wallet.walletType), wallet);
}

/** Ensures that both wallets of a currency exist: an account has them before its first transaction. */
export function openWallets(unit: Unit, currency: string): void {
  for (const walletType of ['MERCHANT_COLLECTION', 'MERCHANT_PAYOUT'] as const) {
    putWallet(unit, walletOf(unit, currency, walletType));
  }
}

/** Changes one balance, and writes the entry that explains it. */
function post(work: Work, entry: Omit<EntryRecord, 'id' | 'at'>): void {
  if (entry.amount === 0) return;
  const wallet = walletOf(work, entry.currency, entry.walletType);
  putWallet(work, { ...wallet, [entry.bucket]: wallet[entry.bucket] + entry.amount });
  const id = work.nextId('entry');
  work.put('entry', id, { id, at: work.now, ...entry });
  if (entry.freeAt !== null) work.put('waiting', id, { id });
}

/** Credits a completed collection: the reserve share first; the rest is uncleared, or available if nothing has to clear. */
export function creditCollection(
  work: Work,
  { currency, id: transactionId, totalCredit }: TransactionRecord,
  { clearingSeconds, reserve }: Pick<SandboxProvider, 'clearingSeconds' | 'reserve'>,
): void {
  const kept = reserve === undefined ? 0 : shareOf(totalCredit, reserve.basisPoints);
  const line = { currency, walletType: 'MERCHANT_COLLECTION', cause: 'collection', transactionId } as const;
  const isClear = clearingSeconds === 0;
  post(work, {
    ...line,
    bucket: isClear ? 'available' : 'uncleared',
    amount: totalCredit - kept,
    freeAt: isClear ? null : work.now + clearingSeconds * 1000,
  });
  post(work, { ...line, bucket: 'reserve', amount: kept, freeAt: work.now + (reserve?.seconds ?? 0) * 1000 });
}

/** The parts of uncleared and reserve balances that are not yet available. */
export function waitingEntries(reader: Reader): EntryRecord[] {
  return reader
    .list('waiting')
    .map(({ id }) => reader.get('entry', id))
    .filter((entry) => entry !== undefined);
}

/** The changes of all balances, or of one currency, oldest first. */
export const entriesOf = (reader: Reader, currency: string | undefined): EntryRecord[] =>
  reader.list('entry').filter((one) => currency === undefined || one.currency === currency);

/** Moves what is due into the available balance. */
export function clear(work: Work): void {
  const due = waitingEntries(work).filter(({ freeAt }) => (freeAt ?? 0) <= work.now);
  for (const { id, at: _, bucket, amount, ...entry } of due) {
    const line = { ...entry, freeAt: null, cause: 'clearing' } as const;
    post(work, { ...line, bucket, amount: -amount });
    post(work, { ...line, bucket: 'available', amount });
    work.remove('waiting', id);
  }
}

/** A movement of available money. */
interface Movement extends Pick<EntryRecord, 'currency' | 'amount'> {
  /** Of its transaction. */
  readonly id?: number;
}
type Cause = EntryRecord['cause'];

/** Takes available money out of a wallet. Throws a SandboxRefusal if there is not enough. */
export function take(work: Work, walletType: WalletType, cause: Cause, movement: Movement): void {
  const { currency, amount } = movement;
  const { available } = walletOf(work, currency, walletType);
  if (available < amount) {
    const [has, needed] = [available, amount].map((minor) => amountText(toAmount(minor, currency), currency));
    const next =
      walletType === 'MERCHANT_PAYOUT'
        ? 'Transfer from the collection wallet first.'
        : 'Collect more, or move the clock ahead (POST /sandbox/clock).';
    const message = `The ${walletType} wallet has ${has} available, and ${needed} is needed. ${next}`;
    refuse('insufficient_balance', message, 'amount');
  }
  give(work, walletType, cause, { ...movement, amount: -amount });
}

/** Puts available money into a wallet. */
export function give(work: Work, walletType: WalletType, cause: Cause, movement: Movement): void {
  const { currency, amount, id: transactionId = null } = movement;
  post(work, { currency, amount, cause, transactionId, walletType, bucket: 'available', freeAt: null });
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
