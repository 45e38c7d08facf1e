import { compareDecimals, decimalFrom } from '../../money/decimal.ts';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  refuseArgument,
  STRING,
} from '../../options/options.ts';
import type { ExactWallet } from '../client.ts';

/** Whether the payout wallet has enough. If not, `code` says why; the list is closed. */
export type PayoutBalance =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'wallet_missing' | 'balance_too_low'; readonly message: string };

/**
 * Compares an amount exactly with the available balance of the MERCHANT_PAYOUT wallet (protocol §2.4). The protocol does not
 * show the payout's charge, so add what you know of it to the amount. Nothing is reserved: another payout may come first, and
 * the service decides.
 *
 * @throws {ConfigurationError} if `wallets` is not a list of wallets, for example a promise of one.
 * @throws {ConfigurationError} if the amount is not a decimal above zero, or a property is unknown.
 *
 * @example
 * const balance = payoutBalance(await client.getWalletBalances(), { currency: 'UGX', amount: '50000' });
 * if (!balance.ok) console.warn(balance.message);
 */
export function payoutBalance(
  wallets: readonly ExactWallet[],
  payout: { readonly currency: string; readonly amount: string | number | bigint },
): PayoutBalance {
  checkArgument('payoutBalance()', 'wallets', wallets, WALLET_LIST);
  checkOptions('payoutBalance()', payout, { currency: STRING, amount: undefined });
  const { currency, amount } = payout;
  const needed = decimalFrom(amount);
  if (needed === undefined || needed.negative || needed.digits === '')
    refuseArgument('payoutBalance()', 'amount', 'a decimal above zero, such as "1999.90"', amount);
  const found = wallets.filter((one) => one.wallet_type === 'MERCHANT_PAYOUT' && one.currency === currency);
  if (found.length === 0) {
    const message = `The account has no payout wallet in ${currency}.`;
    return { ok: false, code: 'wallet_missing', message };
  }
  // The protocol does not show whether there can be several, or which of them a payout would debit.
  const isEnough = found.every(({ exact }) => {
    const available = decimalFrom(exact.available_balance);
    return available !== undefined && compareDecimals(available, needed) >= 0;
  });
  if (isEnough) return { ok: true };
  const message = `The payout wallet in ${currency} has less available than this payout needs. Transfer from the collection wallet first.`;
  return { ok: false, code: 'balance_too_low', message };
}

const WALLET_LIST: OptionRule = [
  (wallets) =>
    Array.isArray(wallets) && wallets.every(({ exact }) => typeof exact.available_balance === 'string'),
  'the list of getWalletBalances()',
];
