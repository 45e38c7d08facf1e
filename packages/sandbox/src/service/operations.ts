import { ConfigurationError } from '@payment-service/core';
import type { PaymentProvider } from '@payment-service/core/client';
import { checkReference } from '@payment-service/core/internal';
import { callbackData, forgedMoney, redirectProblem } from '../deliveries/callback-data.ts';
import { contentOf, scheduleDeliveries } from '../deliveries/composition.ts';
import type { Work } from '../deliveries/unit-of-work.ts';
import { deriveText } from '../state/account.ts';
import { checkDestination } from '../state/hosts.ts';
import { withoutUndefined } from '../state/json-values.ts';
import { amountText, exactAmount, type Minor, shareOf, toAmount } from '../state/money.ts';
import type { SandboxProvider, TransactionRecord, TransferRecord } from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import { defaultRetry } from '../state/retries.ts';
import type { Reader } from '../state/store.ts';
import { creditCollection, give, openWallets, take } from './ledger.ts';
import type { CollectionRequest, Outcome, PayoutRequest, TransferRequest } from './request-schemas.ts';
import { findProvider, servesAccount } from './simulated-providers.ts';

type TransactionType = TransactionRecord['transactionType'];

/**
 * Starts a collection or a payout. A collection moves no money before it is decided. The amount of a payout leaves the payout
 * wallet now, and returns if the payout fails.
 */
export function startTransaction(
  work: Work,
  transactionType: TransactionType,
  request: CollectionRequest & Pick<PayoutRequest, 'bank_code'>,
): TransactionRecord {
  const { currency, charge_customer: chargeCustomer = false } = request;
  const isPayout = transactionType === 'PAYOUT';
  const provider = providerFor(work, request, transactionType);
  const bankCode = isPayout ? bankFor(provider, request.bank_code) : null;
  const amount = exactAmount(request.amount, currency);
  checkMerchantReference(request.merchant_reference, work);
  const spentKey = countIn(work, provider.option, request.amount, amount);
  const settings = work.get('settings', 'settings');
  const callbackUrl = request.callback_url ?? settings?.callback_url ?? null;
  if (callbackUrl !== null) checkDestination(callbackUrl, work.allowedHosts);
  const redirectUrl = isPayout ? null : (request.redirect_url ?? settings?.redirect_url ?? null);
  if (redirectUrl !== null) checkRedirect(redirectUrl);
  const misbehave = request.misbehave ?? settings?.misbehave ?? {};
  openWallets(work, currency);
  const id = work.nextId();
  const charge = isPayout ? 0 : shareOf(amount, provider.chargeBasisPoints);
  const started: TransactionRecord = {
    id,
    merchantReference: request.merchant_reference,
    internalReference: `SBX-${id}-${deriveText(work.seed, `internal reference ${id}`, 10)}`,
    transactionType,
    currency,
    amount,
    charge,
    // With charge_customer, the customer pays the charge in addition: our choice, not shown.
    totalCredit: chargeCustomer ? amount : amount - charge,
    account: request.account,
    customerName: request.customer_name ?? 'Sandbox Customer',
    chargeCustomer,
    providerCode: request.provider_code,
    bankCode,
    status: 'PENDING',
    statusMessage: isPayout ? 'On its way' : 'Waiting for the customer',
    mode: request.mode ?? (request.redirect_url === undefined ? 'direct' : 'page'),
    callbackUrl,
    redirectUrl,
    misbehave,
    retry: { ...defaultRetry, ...settings?.retry, ...withoutUndefined(request.retry ?? {}) },
    spentKey,
    createdAt: work.now,
    decidedAt: null,
    redirects: [],
  };
  // Refuses an inexact amount now, not when the callback is due.
  forgedMoney(misbehave, callbackData(started), 'misbehave.forged_amount');
  if (isPayout) take(work, 'MERCHANT_PAYOUT', 'payout', started);
  work.put('transaction', id, started);
  return started.mode === 'direct' ? decide(work, started, request.outcome) : started;
}

/** Moves available money from the collection wallet to the payout wallet. */
export function makeTransfer(work: Work, { currency, amount: asked }: TransferRequest): TransferRecord {
  const amount = exactAmount(asked, currency);
  take(work, 'MERCHANT_COLLECTION', 'transfer', { currency, amount });
  give(work, 'MERCHANT_PAYOUT', 'transfer', { currency, amount });
  const transfer = { id: work.nextId(), currency, amount, createdAt: work.now };
  work.put('transfer', transfer.id, transfer);
  return transfer;
}

/** Puts money into the collection wallet without a transaction. */
export function makeDeposit(work: Work, { currency, amount: asked }: TransferRequest): void {
  const amount = exactAmount(asked, currency);
  if (!work.list('wallet').some((wallet) => wallet.currency === currency)) {
    refuse('currency_not_served', `currency: the account has no wallet in ${currency}.`, 'currency');
  }
  give(work, 'MERCHANT_COLLECTION', 'deposit', { currency, amount });
}

/**
 * Ends a pending transaction, moves the money and schedules the callback. Throws a SandboxRefusal with status 409 if it has
 * already ended.
 */
export function decide(
  work: Work,
  transaction: TransactionRecord,
  outcome: Outcome = 'completed',
): TransactionRecord {
  const { id, status, transactionType, amount, spentKey } = transaction;
  if (status !== 'PENDING') {
    refuse('already_decided', `Transaction ${id} is already ${status}; start another one.`);
  }
  if (outcome === 'failed') {
    if (transactionType === 'PAYOUT') give(work, 'MERCHANT_PAYOUT', 'payout_returned', transaction);
    const spent = work.get('spent', spentKey);
    if (spent !== undefined) work.put('spent', spentKey, { amount: spent.amount - amount });
  } else if (transactionType === 'COLLECTION') {
    const provider = findProvider(work.list('provider'), transaction.providerCode, transactionType);
    creditCollection(work, transaction, provider ?? { clearingSeconds: 0 });
  }
  const decided: TransactionRecord = {
    ...transaction,
    status: outcome === 'completed' ? 'COMPLETED' : 'FAILED',
    statusMessage:
      outcome === 'completed' ? 'Transaction completed successfully' : 'The transaction was declined',
    decidedAt: work.now,
  };
  work.put('transaction', id, decided);
  const { callbackUrl: url, misbehave: changes, retry } = decided;
  const base = contentOf(work, callbackData(decided));
  if (url !== null) {
    scheduleDeliveries(work, { transaction: decided, base, changes, url, retry, origin: null });
  }
  return decided;
}

/*
 * What a collection or a payout must satisfy before anything is written. Each check throws a SandboxRefusal that says
 * what the provider would accept instead.
 */

/** The provider that serves this request: active, in this currency, with this account's prefix. */
function providerFor(
  reader: Reader,
  { provider_code: code, currency, account }: CollectionRequest | PayoutRequest,
  type: TransactionType,
): SandboxProvider {
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

/** The bank of a payout, if the provider pays out to banks (protocol §2.3). */
function bankFor(provider: SandboxProvider, bankCode: string | undefined): string | null {
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

/** Adds an amount to the provider's day, within its three limits (protocol §8). Days are in UTC, on the sandbox's clock. */
function countIn(work: Work, option: PaymentProvider, wireAmount: number, amount: Minor): string {
  const { provider_name: name, transaction_currency: currency, max_daily_amount } = option;
  const shown = (value: number): string => amountText(value, currency);
  if (wireAmount < option.min_amount) {
    refuse('amount_too_small', `${name} accepts ${shown(option.min_amount)} or more.`, 'amount');
  }
  if (wireAmount > option.max_amount) {
    refuse('amount_too_large', `${name} accepts at most ${shown(option.max_amount)}.`, 'amount');
  }
  const day = new Date(work.now).toISOString().slice(0, 10);
  const spentKey = `${option.provider_code}:${option.transaction_type}:${day}`;
  const spent = (work.get('spent', spentKey)?.amount ?? 0) + amount;
  if (toAmount(spent, currency) > max_daily_amount) {
    const message = `${name} accepts at most ${shown(max_daily_amount)} a day (UTC). With this payment, the total would be ${shown(toAmount(spent, currency))}.`;
    refuse('daily_limit_reached', message, 'amount');
  }
  work.put('spent', spentKey, { amount: spent });
  return spentKey;
}

/** Where the customer's browser may return to. */
export function checkRedirect(redirectUrl: string): void {
  const problem = redirectProblem(redirectUrl);
  if (problem !== undefined) refuse('malformed_request', `redirect_url: ${problem}`, 'redirect_url');
}

/** Refuses a reference whose callback could not be verified later, as core recommends. */
function checkMerchantReference(reference: string, { colonIn }: Work): void {
  try {
    checkReference('merchant_reference', reference, { colonIn });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    refuse('malformed_request', error.message, 'merchant_reference');
  }
}
