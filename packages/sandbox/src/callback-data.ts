import type { TransactionCallback } from '@payment-service/core';
import { toAmount } from './money.ts';
import type { TransactionRecord } from './records.ts';

/**
 * The callback data of a transaction (specification 2.5). `transaction.completed` is the service's; the event
 * `transaction.failed` and the status FAILED are simulated, since other events and statuses are not shown.
 */
export function callbackData(transaction: TransactionRecord): TransactionCallback {
  const { currency } = transaction;
  return {
    event: `transaction.${transaction.status.toLowerCase()}`,
    payload: {
      id: transaction.id,
      merchant_reference: transaction.merchantReference,
      internal_reference: transaction.internalReference,
      transaction_type: transaction.transactionType,
      request_currency: currency,
      request_amount: toAmount(transaction.amount, currency),
      transaction_currency: currency,
      transaction_amount: toAmount(transaction.amount, currency),
      transaction_charge: toAmount(transaction.charge, currency),
      transaction_account: transaction.account,
      customer_name: transaction.customerName,
      charge_customer: transaction.chargeCustomer,
      total_credit: toAmount(transaction.totalCredit, currency),
      provider_code: transaction.providerCode,
      transaction_status: transaction.status,
      status_message: transaction.statusMessage,
    },
  };
}

/** The same data with another amount: what the signature does not notice (A2). The charge stays. */
export function forgeAmount(data: TransactionCallback, amount: number): TransactionCallback {
  const credit = data.payload.charge_customer ? amount : amount - data.payload.transaction_charge;
  return {
    event: data.event,
    payload: { ...data.payload, request_amount: amount, transaction_amount: amount, total_credit: credit },
  };
}

/** The names of the query parameters of a redirect: event, the 16 payload fields, and the signature. */
export function redirectNames(data: TransactionCallback): string[] {
  return ['event', ...Object.keys(data.payload), 'hmac_signature'];
}

/**
 * The address that the customer's browser is sent to: the merchant's own, with the data as flat query parameters and
 * the signature as `hmac_signature`. Flat names are our choice: how the query is spelled is not shown.
 */
export function redirectLocation(redirectUrl: string, data: TransactionCallback, signature: string): string {
  const url = new URL(redirectUrl);
  url.searchParams.set('event', data.event);
  for (const [name, value] of Object.entries(data.payload)) url.searchParams.set(name, String(value));
  url.searchParams.set('hmac_signature', signature);
  return url.href;
}
