import type { SignedFields, TransactionCallback } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { deriveText } from '../state/account.ts';
import type { Misbehaviour } from '../state/misbehaviour.ts';
import { exactAmount, rescale, toAmount } from '../state/money.ts';
import type { Signing, TransactionRecord } from '../state/records.ts';

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

/**
 * The six fields about money, with another amount or currency, which the signature does not cover (threat A2). The charge is
 * unchanged, and the total is consistent.
 *
 * @throws {SandboxRefusal} when the amount is not exact in the currency.
 */
export function forgedMoney(
  changes: Misbehaviour,
  { payload }: TransactionCallback,
  field = 'forged_amount',
): object {
  const { transaction_currency: from, transaction_amount, transaction_charge } = payload;
  const currency = changes.forged_currency ?? from;
  const minor = exactAmount(changes.forged_amount ?? transaction_amount, currency, field);
  const charge = rescale(exactAmount(transaction_charge, from), from, currency);
  const amount = toAmount(minor, currency);
  return {
    ...{ request_currency: currency, request_amount: amount },
    ...{ transaction_currency: currency, transaction_amount: amount },
    transaction_charge: toAmount(charge, currency),
    total_credit: payload.charge_customer ? amount : toAmount(minor - charge, currency),
  };
}

/** The parameters that the redirect adds to the merchant's address: event, the 16 payload fields and the signature. */
const redirectNames = ['event', ...Object.keys(sampleCallback().payload), 'hmac_signature'];

/** Why a customer's browser would not be sent back to this address, or undefined when it would. */
export function redirectProblem(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an http or https address';
  // If they were repeated, the verifier would refuse the redirect.
  const taken = redirectNames.find((name) => url.searchParams.has(name));
  if (taken === undefined) return undefined;
  return `must not contain the query parameter ${taken}, which the redirect adds`;
}

/**
 * The address that the customer's browser is sent to: the merchant's own, with the data as flat query parameters and the
 * signature as `hmac_signature`. Flat names are our choice: the spelling of the query is not shown.
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

/** Signs five fields with the account's key, or deliberately with another one. */
export type Signer = (fields: SignedFields, now: number, signing?: Partial<Signing>) => string;

/** `t` is in seconds by default; the service's unit is not shown (protocol §5.2). */
export function createSigner(
  signingKey: string,
  seed: string,
  timestampUnit: 'seconds' | 'milliseconds',
): Signer {
  const otherKey = `SANDBOXOTHER${deriveText(seed, 'another signing key', 32)}`;
  return ({ event, ...payload }, now, { key = 'account', offsetSeconds = 0, unit } = {}) => {
    const time = now + offsetSeconds * 1000;
    return signCallback({
      signingKey: key === 'account' ? signingKey : otherKey,
      data: { event, payload },
      timestamp: Math.floor((unit ?? timestampUnit) === 'seconds' ? time / 1000 : time),
    });
  };
}

/** The five fields that the service signs (protocol §5.2), in its order. */
export function signedFieldsOf({ event, payload }: TransactionCallback): SignedFields {
  const { merchant_reference, internal_reference, transaction_type, transaction_status } = payload;
  return { event, merchant_reference, internal_reference, transaction_type, transaction_status };
}
