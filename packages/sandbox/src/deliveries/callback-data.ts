import type { TransactionCallback } from '@payment-service/core';
import { type Minor, toAmount } from '../service/money.ts';
import type { TransactionRecord } from '../state/records.ts';

/**
 * The callback data of a transaction (protocol §2.5). `transaction.completed` is the service's; the event
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

/** The same transaction with another amount: what the signature does not notice (threat A2). The charge stays. */
export function forgeAmount(transaction: TransactionRecord, amount: Minor): TransactionRecord {
  const { charge, chargeCustomer } = transaction;
  return { ...transaction, amount, totalCredit: chargeCustomer ? amount : amount - charge };
}

/** The names that the redirect adds to the merchant's address: event, the 16 payload fields and the signature. */
const redirectNames = (data: TransactionCallback): string[] => [
  'event',
  ...Object.keys(data.payload),
  'hmac_signature',
];

/** A name that stands in the merchant's address already: repeated, the verifier would refuse the redirect. */
export function takenName(redirectUrl: URL, data: TransactionCallback): string | undefined {
  return redirectNames(data).find((name) => redirectUrl.searchParams.has(name));
}

/**
 * The address that the customer's browser is sent to: the merchant's own, with the data as flat query parameters and
 * the signature as `hmac_signature`. Flat names are our choice: how the query is spelled is not shown.
 */
export function redirectLocation(redirectUrl: string, data: TransactionCallback, signature: string): string {
  const url = new URL(redirectUrl);
  const fields = { event: data.event, ...data.payload, hmac_signature: signature };
  const added = Object.entries(fields).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`,
  );
  url.search = [...(url.search === '' ? [] : [url.search.slice(1)]), ...added].join('&');
  return url.href;
}
