import { assertMerchantReference, ConfigurationError } from '@payment-service/core';
import type { PaymentProvider } from '@payment-service/core/client';
import { redirectProblem } from '../deliveries/callback-data.ts';
import { amountText, type Minor, toAmount } from '../state/money.ts';
import type { SandboxProvider } from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import type { Reader } from '../state/store.ts';
import { findProvider, servesAccount } from './providers.ts';
import type { CollectionRequest, PayoutRequest } from './requests.ts';

/*
 * What a collection or a payout must satisfy before anything is written. Each check throws a SandboxRefusal that says
 * what the provider would accept instead.
 */

/** What transactions need to know of the sandbox that they happen in. */
export interface TransactionRules {
  readonly allowedHosts: readonly string[];
  readonly seed: string;
  readonly colonIn: 'merchant_reference' | undefined;
}

/** The provider that serves this request: active, in this currency, with this account's prefix. */
export function providerFor(
  reader: Reader,
  request: CollectionRequest | PayoutRequest,
  type: 'COLLECTION' | 'PAYOUT',
): SandboxProvider {
  const { provider_code: code, currency, account } = request;
  const provider = findProvider(reader.list('provider'), code, type);
  if (provider === undefined) {
    const message = `No provider serves ${type} under this provider_code. GET /data/payment-providers lists them.`;
    return refuse('unknown_provider', message, 'provider_code');
  }
  const { provider_name: name, is_active, transaction_currency, option_prefixes } = provider.option;
  if (!is_active) refuse('provider_inactive', `${name} is not active.`, 'provider_code');
  if (transaction_currency !== currency) {
    refuse('currency_not_served', `${name} serves ${transaction_currency} only.`, 'currency');
  }
  if (!servesAccount(provider.option, account)) {
    const message = `${name} serves account numbers that start with ${option_prefixes.join(' or ')}.`;
    refuse('account_not_served', message, 'account');
  }
  return provider;
}

/** The bank that a payout goes to, where the provider pays out to banks (protocol §2.3). */
export function bankFor(provider: SandboxProvider, bankCode: string | undefined): string | null {
  if (provider.banks === undefined) {
    if (bankCode === undefined) return null;
    return refuse('unknown_bank', `${provider.option.provider_name} does not pay out to banks.`, 'bank_code');
  }
  const bank = provider.banks.find(({ bank_code }) => bank_code === bankCode);
  if (bank === undefined) {
    const message =
      'bank_code: is required and must be one of GET /data/payout-bank-codes for this provider.';
    return refuse('unknown_bank', message, 'bank_code');
  }
  if (!bank.is_active) refuse('bank_inactive', `${bank.bank_name} is not active.`, 'bank_code');
  return bank.bank_code;
}

/** The provider's three limits (protocol §8); the day is that of UTC, on the sandbox's clock. */
export function checkLimits(
  reader: Reader,
  option: PaymentProvider,
  wireAmount: number,
  amount: Minor,
  now: number,
): { spentKey: string; spent: Minor } {
  const { provider_name: name, transaction_currency: currency, max_daily_amount } = option;
  const shown = (value: number): string => amountText(value, currency);
  if (wireAmount < option.min_amount) {
    refuse('amount_too_small', `${name} accepts ${shown(option.min_amount)} or more.`, 'amount');
  }
  if (wireAmount > option.max_amount) {
    refuse('amount_too_large', `${name} accepts at most ${shown(option.max_amount)}.`, 'amount');
  }
  const day = new Date(now).toISOString().slice(0, 10);
  const spentKey = `${option.provider_code}:${option.transaction_type}:${day}`;
  const spent = (reader.get('spent', spentKey)?.amount ?? 0) + amount;
  if (toAmount(spent, currency) > max_daily_amount) {
    const message = `${name} accepts at most ${shown(max_daily_amount)} a day (UTC), and with this payment it would be ${shown(toAmount(spent, currency))}.`;
    refuse('daily_limit_reached', message, 'amount');
  }
  return { spentKey, spent };
}

/** Where the customer's browser may be sent back to. */
export function checkRedirect(redirectUrl: string): void {
  const problem = redirectProblem(redirectUrl);
  if (problem !== undefined) refuse('malformed_request', `redirect_url: ${problem}`, 'redirect_url');
}

/** A reference whose callback could not be verified later is refused now, as core advises. */
export function checkReference(reference: string, { colonIn }: TransactionRules): void {
  try {
    assertMerchantReference(reference, { colonIn });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    refuse('malformed_request', error.message, 'merchant_reference');
  }
}
