import { assertMerchantReference, ConfigurationError } from '@payment-service/core';
import { deriveText } from './account.ts';
import { destinationProblem } from './destination.ts';
import { creditCollection, debitPayout, moveToPayout, openWallets, refundPayout } from './ledger.ts';
import { defaultRetry } from './misbehaviour.ts';
import { type Minor, shareOf, toAmount, toMinor } from './money.ts';
import { findProvider, type SandboxProvider } from './providers.ts';
import type { TransactionRecord, TransferRecord } from './records.ts';
import { SandboxRefusal } from './refusal.ts';
import type { CollectionRequest, Outcome, PayoutRequest, TransferRequest } from './requests.ts';
import type { Unit } from './store.ts';

/** What transactions need to know of the sandbox that they happen in. */
export interface TransactionRules {
  readonly providers: readonly SandboxProvider[];
  readonly allowedHosts: readonly string[];
  readonly callbackUrl: string | undefined;
  readonly seed: string;
}

const refuse = (reason: SandboxRefusal['reason'], message: string, field: string): never => {
  throw new SandboxRefusal(reason === 'malformed_request' ? 400 : 422, reason, message, field);
};

/** Starts a collection; nothing moves before it is decided. */
export function startCollection(
  unit: Unit,
  rules: TransactionRules,
  request: CollectionRequest,
  now: number,
): TransactionRecord {
  const provider = provideFor(rules, request, 'COLLECTION');
  const transaction = start(unit, rules, request, provider, now);
  const charge = shareOf(transaction.amount, provider.chargeBasisPoints);
  const chargeCustomer = request.charge_customer ?? false;
  const redirectUrl = request.redirect_url ?? null;
  if (redirectUrl !== null && !/^https?:$/.test(URL.parse(redirectUrl)?.protocol ?? '')) {
    refuse('malformed_request', 'redirect_url: must be an http or https address', 'redirect_url');
  }
  return save(unit, {
    ...transaction,
    charge,
    chargeCustomer,
    // With charge_customer the customer pays the charge on top: our choice, the service's is not shown.
    totalCredit: chargeCustomer ? transaction.amount : transaction.amount - charge,
    redirectUrl,
    mode: request.mode ?? (redirectUrl === null ? 'direct' : 'page'),
    statusMessage: 'Waiting for the customer',
  });
}

/** Starts a payout: the amount leaves the payout wallet now, and comes back when the payout fails. */
export function startPayout(
  unit: Unit,
  rules: TransactionRules,
  request: PayoutRequest,
  now: number,
): TransactionRecord {
  const provider = provideFor(rules, request, 'PAYOUT');
  const bankCode = bankFor(provider, request.bank_code);
  const transaction = start(unit, rules, request, provider, now);
  debitPayout(unit, transaction.currency, transaction.amount);
  return save(unit, {
    ...transaction,
    transactionType: 'PAYOUT',
    bankCode,
    mode: request.mode ?? 'direct',
    statusMessage: 'On its way',
  });
}

/** Moves available money from the collection wallet to the payout wallet. */
export function makeTransfer(unit: Unit, request: TransferRequest, now: number): TransferRecord {
  const amount = exactAmount(request.amount, request.currency);
  moveToPayout(unit, request.currency, amount);
  const transfer = { id: unit.nextId(), currency: request.currency, amount, createdAt: now };
  unit.put('transfer', transfer.id, transfer);
  return transfer;
}

/** Ends a pending transaction and moves the money. Throws a SandboxRefusal with status 409 when it has ended before. */
export function decide(
  unit: Unit,
  rules: TransactionRules,
  transaction: TransactionRecord,
  outcome: Outcome,
  now: number,
): TransactionRecord {
  if (transaction.status !== 'PENDING') {
    throw new SandboxRefusal(
      409,
      'already_decided',
      `Transaction ${transaction.id} is ${transaction.status} already; start another one.`,
    );
  }
  const { transactionType, currency, amount, spentKey } = transaction;
  if (outcome === 'failed') {
    if (transactionType === 'PAYOUT') refundPayout(unit, currency, amount);
    const spent = unit.get('spent', spentKey);
    if (spent !== undefined) unit.put('spent', spentKey, { amount: spent.amount - amount });
  } else if (transactionType === 'COLLECTION') {
    const provider = findProvider(rules.providers, transaction.providerCode, transactionType);
    creditCollection(unit, transaction, provider ?? { clearingSeconds: 0 }, now);
  }
  return save(unit, {
    ...transaction,
    status: outcome === 'completed' ? 'COMPLETED' : 'FAILED',
    statusMessage:
      outcome === 'completed' ? 'Transaction completed successfully' : 'The transaction was declined',
    decidedAt: now,
  });
}

function save(unit: Unit, transaction: TransactionRecord): TransactionRecord {
  unit.put('transaction', transaction.id, transaction);
  return transaction;
}

function exactAmount(amount: number, currency: string): Minor {
  const minor = /^[A-Z]{3}$/.test(currency) ? toMinor(amount, currency) : undefined;
  return (
    minor ??
    refuse('malformed_request', `amount: must be exact, with no more decimals than ${currency} has`, 'amount')
  );
}

function provideFor(
  rules: TransactionRules,
  request: CollectionRequest | PayoutRequest,
  type: 'COLLECTION' | 'PAYOUT',
): SandboxProvider {
  const { provider_code: code, currency, account } = request;
  const provider = findProvider(rules.providers, code, type);
  if (provider === undefined) {
    const message = `No provider serves ${type} under this provider_code. GET /data/payment-providers lists them.`;
    return refuse('unknown_provider', message, 'provider_code');
  }
  const { option } = provider;
  if (!option.is_active) {
    refuse('provider_inactive', `${option.provider_name} is not active.`, 'provider_code');
  }
  if (option.transaction_currency !== currency) {
    const message = `${option.provider_name} serves ${option.transaction_currency} only.`;
    refuse('currency_not_served', message, 'currency');
  }
  const prefixes = option.option_prefixes;
  if (prefixes.length > 0 && !prefixes.some((prefix) => account.startsWith(prefix))) {
    const message = `${option.provider_name} serves account numbers that start with ${prefixes.join(' or ')}.`;
    refuse('account_not_served', message, 'account');
  }
  return provider;
}

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

function start(
  unit: Unit,
  rules: TransactionRules,
  request: CollectionRequest | PayoutRequest,
  { option }: SandboxProvider,
  now: number,
): TransactionRecord {
  const { currency } = request;
  const amount = exactAmount(request.amount, currency);
  checkReference(request.merchant_reference);
  const limit = (wire: number): string => `${wire} ${currency}`;
  if (request.amount < option.min_amount) {
    refuse(
      'amount_too_small',
      `${option.provider_name} takes ${limit(option.min_amount)} or more.`,
      'amount',
    );
  }
  if (request.amount > option.max_amount) {
    refuse(
      'amount_too_large',
      `${option.provider_name} takes at most ${limit(option.max_amount)}.`,
      'amount',
    );
  }
  const day = new Date(now).toISOString().slice(0, 10);
  const spentKey = `${option.provider_code}:${option.transaction_type}:${day}`;
  const spent = (unit.get('spent', spentKey)?.amount ?? 0) + amount;
  if (toAmount(spent, currency) > option.max_daily_amount) {
    const message = `${option.provider_name} takes at most ${limit(option.max_daily_amount)} a day (UTC), and this would make it ${limit(toAmount(spent, currency))}.`;
    refuse('daily_limit_reached', message, 'amount');
  }
  const callbackUrl = request.callback_url ?? rules.callbackUrl ?? null;
  const problem = callbackUrl === null ? undefined : destinationProblem(callbackUrl, rules.allowedHosts);
  if (problem !== undefined) refuse('destination_refused', `callback_url: ${problem}.`, 'callback_url');

  unit.put('spent', spentKey, { amount: spent });
  openWallets(unit, currency);
  const settings = unit.get('settings', 'settings');
  const id = unit.nextId();
  return {
    id,
    merchantReference: request.merchant_reference,
    internalReference: `SBX-${id}-${deriveText(rules.seed, `internal reference ${id}`, 10)}`,
    transactionType: 'COLLECTION',
    currency,
    amount,
    charge: 0,
    totalCredit: amount,
    account: request.account,
    customerName: request.customer_name ?? 'Sandbox Customer',
    chargeCustomer: false,
    providerCode: option.provider_code,
    bankCode: null,
    status: 'PENDING',
    statusMessage: '',
    mode: 'direct',
    callbackUrl,
    redirectUrl: null,
    misbehave: { ...settings?.misbehave, ...request.misbehave },
    retry: { ...defaultRetry, ...settings?.retry, ...request.retry },
    spentKey,
    createdAt: now,
    decidedAt: null,
  };
}

function checkReference(reference: string): void {
  try {
    assertMerchantReference(reference);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    refuse('malformed_request', error.message, 'merchant_reference');
  }
}
