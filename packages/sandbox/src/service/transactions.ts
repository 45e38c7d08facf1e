import { destinationProblem } from '../deliveries/destination.ts';
import { defaultRetry } from '../deliveries/misbehaviour.ts';
import { deriveText } from '../state/account.ts';
import type { TransactionRecord, TransferRecord } from '../state/records.ts';
import type { Unit } from '../state/store.ts';
import { creditCollection, debitPayout, moveToPayout, openWallets, refundPayout } from './ledger.ts';
import { shareOf } from './money.ts';
import { findProvider, type SandboxProvider } from './providers.ts';
import { SandboxRefusal } from './refusal.ts';
import type { CollectionRequest, Outcome, PayoutRequest, TransferRequest } from './requests.ts';
import {
  bankFor,
  checkLimits,
  checkRedirect,
  checkReference,
  exactAmount,
  providerFor,
  refuse,
  type TransactionRules,
} from './transaction-checks.ts';

/** Starts a collection; nothing moves before it is decided. */
export function startCollection(
  unit: Unit,
  rules: TransactionRules,
  request: CollectionRequest,
  now: number,
): TransactionRecord {
  const provider = providerFor(rules, request, 'COLLECTION');
  const transaction = start(unit, rules, request, provider, now);
  const charge = shareOf(transaction.amount, provider.chargeBasisPoints);
  const chargeCustomer = request.charge_customer ?? false;
  const redirectUrl = request.redirect_url ?? null;
  if (redirectUrl !== null) checkRedirect(redirectUrl, transaction);
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
  const provider = providerFor(rules, request, 'PAYOUT');
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
  const callbackUrl = request.callback_url ?? rules.callbackUrl ?? null;
  const problem = callbackUrl === null ? undefined : destinationProblem(callbackUrl, rules.allowedHosts);
  if (problem !== undefined) refuse('destination_refused', `callback_url: ${problem}.`, 'callback_url');

  const settings = unit.get('settings', 'settings');
  const misbehave = request.misbehave ?? settings?.misbehave ?? {};
  if (misbehave.forged_amount !== undefined) {
    exactAmount(misbehave.forged_amount, currency, 'misbehave.forged_amount');
  }

  unit.put('spent', spentKey, { amount: spent });
  openWallets(unit, currency);
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
    misbehave,
    retry: { ...defaultRetry, ...settings?.retry, ...request.retry },
    spentKey,
    createdAt: now,
    decidedAt: null,
  };
}
