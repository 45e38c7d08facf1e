import { forgedMoney } from '../deliveries/callback-data.ts';
import { deriveText } from '../state/account.ts';
import { checkDestination } from '../state/hosts.ts';
import { exactAmount, shareOf } from '../state/money.ts';
import type { SandboxProvider, TransactionRecord, TransferRecord } from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import { defaultRetry } from '../state/retries.ts';
import type { Unit } from '../state/store.ts';
import { creditCollection, give, openWallets, take } from './ledger.ts';
import { findProvider } from './providers.ts';
import type { CollectionRequest, Outcome, PayoutRequest, TransferRequest } from './requests.ts';
import {
  bankFor,
  checkLimits,
  checkRedirect,
  checkReference,
  providerFor,
  type TransactionRules,
} from './transaction-checks.ts';

/** Starts a collection; nothing moves before it is decided. */
export function startCollection(
  unit: Unit,
  rules: TransactionRules,
  request: CollectionRequest,
  now: number,
): TransactionRecord {
  const provider = providerFor(unit, request, 'COLLECTION');
  const transaction = start(unit, rules, request, provider, now);
  const charge = shareOf(transaction.amount, provider.chargeBasisPoints);
  const chargeCustomer = request.charge_customer ?? false;
  const redirectUrl = request.redirect_url ?? unit.get('settings', 'settings')?.redirect_url ?? null;
  if (redirectUrl !== null) checkRedirect(redirectUrl);
  return save(unit, {
    ...transaction,
    charge,
    chargeCustomer,
    // With charge_customer the customer pays the charge on top: our choice, the service's is not shown.
    totalCredit: chargeCustomer ? transaction.amount : transaction.amount - charge,
    redirectUrl,
    mode: request.mode ?? (request.redirect_url === undefined ? 'direct' : 'page'),
    statusMessage: 'Waiting for the customer',
  });
}

/** Starts a payout: the amount leaves the payout wallet now, and is returned when the payout fails. */
export function startPayout(
  unit: Unit,
  rules: TransactionRules,
  request: PayoutRequest,
  now: number,
): TransactionRecord {
  const provider = providerFor(unit, request, 'PAYOUT');
  const bankCode = bankFor(provider, request.bank_code);
  const transaction = start(unit, rules, request, provider, now);
  take(unit, 'MERCHANT_PAYOUT', { ...movementOf(transaction, now), cause: 'payout' });
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
  const movement = {
    currency: request.currency,
    amount,
    at: now,
    cause: 'transfer',
    transactionId: null,
  } as const;
  take(unit, 'MERCHANT_COLLECTION', movement);
  give(unit, 'MERCHANT_PAYOUT', movement);
  const transfer = { id: unit.nextId(), currency: request.currency, amount, createdAt: now };
  unit.put('transfer', transfer.id, transfer);
  return transfer;
}

/** Puts money into the collection wallet without a transaction. */
export function makeDeposit(unit: Unit, request: TransferRequest, now: number): void {
  const { currency } = request;
  const amount = exactAmount(request.amount, currency);
  if (!unit.list('wallet').some((wallet) => wallet.currency === currency)) {
    refuse('currency_not_served', `currency: the account has no wallet in ${currency}.`, 'currency');
  }
  give(unit, 'MERCHANT_COLLECTION', { currency, amount, at: now, cause: 'deposit', transactionId: null });
}

/** Ends a pending transaction and moves the money. Throws a SandboxRefusal with status 409 when it has ended before. */
export function decide(
  unit: Unit,
  transaction: TransactionRecord,
  outcome: Outcome,
  now: number,
): TransactionRecord {
  if (transaction.status !== 'PENDING') {
    refuse(
      'already_decided',
      `Transaction ${transaction.id} is already ${transaction.status}; start another one.`,
    );
  }
  const { transactionType, amount, spentKey } = transaction;
  if (outcome === 'failed') {
    if (transactionType === 'PAYOUT') {
      give(unit, 'MERCHANT_PAYOUT', { ...movementOf(transaction, now), cause: 'payout_returned' });
    }
    const spent = unit.get('spent', spentKey);
    if (spent !== undefined) unit.put('spent', spentKey, { amount: spent.amount - amount });
  } else if (transactionType === 'COLLECTION') {
    const provider = findProvider(unit.list('provider'), transaction.providerCode, transactionType);
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

const movementOf = ({ currency, amount, id }: TransactionRecord, at: number) => ({
  currency,
  amount,
  at,
  transactionId: id,
});

function save(unit: Unit, transaction: TransactionRecord): TransactionRecord {
  unit.put('transaction', transaction.id, transaction);
  return transaction;
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
  checkReference(request.merchant_reference, rules);
  const { spentKey, spent } = checkLimits(unit, option, request.amount, amount, now);
  const settings = unit.get('settings', 'settings');
  const callbackUrl = request.callback_url ?? settings?.callback_url ?? null;
  if (callbackUrl !== null) checkDestination(callbackUrl, rules.allowedHosts);
  const misbehave = request.misbehave ?? settings?.misbehave ?? {};

  unit.put('spent', spentKey, { amount: spent });
  openWallets(unit, currency);
  const id = unit.nextId();
  const transaction: TransactionRecord = {
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
    misbehave,
    retry: { ...defaultRetry, ...settings?.retry, ...request.retry },
    spentKey,
    createdAt: now,
    decidedAt: null,
    redirects: [],
  };
  // Refuses an amount that is not exact now, not when the callback is due.
  forgedMoney(misbehave, transaction, 'misbehave.forged_amount');
  return transaction;
}
