import { compareDecimals, decimalFrom } from '../decimal.ts';
import { ConfigurationError } from '../errors.ts';
import { checkOptions } from '../options.ts';
import type { ExactWallet } from './client.ts';

/** Whether the payout wallet has enough; why not, as a closed list. */
export type PayoutBalance =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'wallet_missing' | 'balance_too_low'; readonly message: string };

/**
 * Compares an amount with the available balance of the MERCHANT_PAYOUT wallet (protocol §2.4), exactly. A charge of the payout is
 * not shown, so add what you know of it to the amount. It reserves nothing: another payout may be faster, and the service decides.
 *
 * @throws {ConfigurationError} if the amount is not a decimal above zero, or a name is not known.
 *
 * @example
 * const balance = payoutBalance(await client.getWalletBalances(), { currency: 'UGX', amount: '50000' });
 * if (!balance.ok) console.warn(balance.message);
 */
export function payoutBalance(
  wallets: readonly ExactWallet[],
  payout: { readonly currency: string; readonly amount: string | number | bigint },
): PayoutBalance {
  checkOptions('payoutBalance()', payout, { currency: undefined, amount: undefined });
  const { currency, amount } = payout;
  const needed = decimalFrom(amount);
  if (needed === undefined || needed.negative || needed.digits === '')
    throw new ConfigurationError('amount', 'amount must be a decimal above zero, such as "1999.90".');
  const found = wallets.filter((one) => one.wallet_type === 'MERCHANT_PAYOUT' && one.currency === currency);
  if (found.length === 0) {
    const message = `The account has no payout wallet in ${currency}.`;
    return { ok: false, code: 'wallet_missing', message };
  }
  // Whether there can be several is not shown, and neither is which of them a payout would leave.
  const isEnough = found.every(({ exact }) => {
    const available = decimalFrom(exact.available_balance);
    return available !== undefined && compareDecimals(available, needed) >= 0;
  });
  if (isEnough) return { ok: true };
  const message = `The payout wallet in ${currency} has less available than this payout needs. Transfer from the collection wallet first.`;
  return { ok: false, code: 'balance_too_low', message };
}
