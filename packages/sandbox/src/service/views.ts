import type { TransactionPayload } from '@payment-service/core';
import type { Outcome } from '@payment-service/core/explain';
import { signedMessage } from '@payment-service/core/internal';
import { csvLine } from '@payment-service/pages';
import { callbackData, redirectLocation, signedFieldsOf } from '../deliveries/callback-data.ts';
import { outcomeOf } from '../deliveries/outcome.ts';
import type { Context } from '../deliveries/unit-of-work.ts';
import type { Misbehaviour } from '../state/misbehaviour.ts';
import { toAmount } from '../state/money.ts';
import type {
  DeliveryAttempt,
  DeliveryRecord,
  EntryRecord,
  HeaderPair,
  TransactionMode,
  TransactionRecord,
  TransferRecord,
  WalletType,
} from '../state/records.ts';
import type { Reader } from '../state/store.ts';

/** A transaction under /sandbox: the 16 payload fields, and how it is simulated. Times are ISO 8601. */
export interface SandboxTransaction extends TransactionPayload {
  readonly bank_code: string | null;
  readonly mode: TransactionMode;
  readonly callback_url: string | null;
  readonly redirect_url: string | null;
  readonly misbehave: Misbehaviour;
  readonly created_at: string;
  readonly decided_at: string | null;
}

/** A transfer from MERCHANT_COLLECTION to MERCHANT_PAYOUT. */
export interface SandboxTransfer {
  readonly id: number;
  readonly currency: string;
  readonly amount: number;
  readonly created_at: string;
}

/** A callback that was sent or is scheduled, with every attempt. */
export interface SandboxDelivery
  extends Pick<
    DeliveryRecord,
    'id' | 'origin' | 'url' | 'copy' | 'body' | 'signature' | 'signed' | 'misbehaves' | 'state'
  > {
  readonly transaction_id: number;
  readonly created_at: string;
  /** When the next attempt starts; null if it has ended, or waits for another delivery. */
  readonly due_at: string | null;
  readonly attempts: readonly SandboxAttempt[];
}

/** One attempt, as it was on the wire. */
export interface SandboxAttempt
  extends Pick<DeliveryAttempt, 'ms' | 'status' | 'response' | 'error' | 'error_code'> {
  readonly at: string;
  readonly request: {
    readonly method: 'POST';
    readonly url: string;
    /** In the order in which they were sent. With an injected `fetch`, those that were passed to it. */
    readonly headers: readonly HeaderPair[];
    readonly body: string;
    readonly signature: string;
    /** The timestamp in the signature, which is not signed. */
    readonly t: string;
    /** The account's signing key, or deliberately another one. */
    readonly key: 'account' | 'other';
    readonly signed_string: string;
  } | null;
  /** The likely cause and fix; its `tone` is `bad` if the endpoint is wrong. */
  readonly outcome: Outcome;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** With its time as ISO 8601. */
export const stamped = <T extends { readonly at: number }>(one: T): Omit<T, 'at'> & { at: string } => ({
  ...one,
  at: iso(one.at),
});

export function viewTransaction(transaction: TransactionRecord): SandboxTransaction {
  return {
    ...callbackData(transaction).payload,
    bank_code: transaction.bankCode,
    mode: transaction.mode,
    callback_url: transaction.callbackUrl,
    redirect_url: transaction.redirectUrl,
    misbehave: transaction.misbehave,
    created_at: iso(transaction.createdAt),
    decided_at: transaction.decidedAt === null ? null : iso(transaction.decidedAt),
  };
}

/** The response to a started collection. */
export interface StartedCollection {
  readonly transaction: SandboxTransaction;
  /** Where the customer pays or declines; null if nothing is left to decide. */
  readonly payment_page_url: string | null;
  /** The signed address to which the customer's browser returns, once it is decided. */
  readonly redirect_location: string | null;
}

/** `origin`: the address of the sandbox, as this caller knows it. */
export function viewStarted(
  context: Context,
  transaction: TransactionRecord,
  origin: string,
): StartedCollection {
  const { mode, internalReference } = transaction;
  return {
    transaction: viewTransaction(transaction),
    payment_page_url: mode === 'page' ? `${origin}/sandbox/pay/${internalReference}` : null,
    redirect_location: redirectOf(context, transaction) ?? null,
  };
}

export function viewTransfer({ id, currency, amount, createdAt }: TransferRecord): SandboxTransfer {
  return { id, currency, amount: toAmount(amount, currency), created_at: iso(createdAt) };
}

/** The signed address to which the customer's browser returns, or undefined while nothing is decided. */
export function redirectOf({ sign }: Context, transaction: TransactionRecord): string | undefined {
  const { redirectUrl, decidedAt } = transaction;
  if (redirectUrl === null || decidedAt === null) return undefined;
  const data = callbackData(transaction);
  return redirectLocation(redirectUrl, data, sign(signedFieldsOf(data), decidedAt));
}

export function viewDelivery(context: Context, delivery: DeliveryRecord): SandboxDelivery {
  const { transactionId, createdAt, dueAt, attempts, retry, after, held, signing, ...shown } = delivery;
  const { url, body, signed } = shown;
  return {
    ...shown,
    transaction_id: transactionId,
    created_at: iso(createdAt),
    due_at: dueAt === null ? null : iso(dueAt),
    attempts: attempts.map((attempt) => {
      const { at, sent, ...rest } = attempt;
      const request = sent && {
        method: 'POST' as const,
        url,
        headers: sent.headers,
        body,
        signature: sent.signature,
        t: sent.signature.slice('t='.length, sent.signature.indexOf(',')),
        key: signing.key,
        signed_string: signedMessage(signed),
      };
      return { at: iso(at), ...rest, request, outcome: outcomeOf(context, delivery, attempt) };
    }),
  };
}

/** One change of one balance, in whole units. The entries of a balance add up to it. */
export interface SandboxEntry extends Pick<EntryRecord, 'id' | 'currency' | 'bucket' | 'amount' | 'cause'> {
  readonly at: string;
  readonly wallet_type: WalletType;
  /** When a held amount becomes available; null for any other. */
  readonly free_at: string | null;
  readonly transaction_id: number | null;
}

export const viewEntry = ({ walletType, freeAt, transactionId, ...entry }: EntryRecord): SandboxEntry => ({
  ...stamped(entry),
  wallet_type: walletType,
  amount: toAmount(entry.amount, entry.currency),
  free_at: freeAt === null ? null : iso(freeAt),
  transaction_id: transactionId,
});

/** One event of a transaction. `at` is in milliseconds since 1970, on the sandbox's clock. */
export type TimelineEvent = { readonly at: number } & (
  | { readonly what: 'created' }
  | { readonly what: 'decided'; readonly transaction_status: string }
  | { readonly what: 'entry'; readonly entry: SandboxEntry }
  | { readonly what: 'delivery'; readonly delivery_id: number; readonly misbehaves: readonly string[] }
  | {
      readonly what: 'attempt';
      readonly delivery_id: number;
      /** Its place among the attempts of the delivery: 1 and up. */
      readonly number: number;
      readonly status: number | null;
      readonly error: string | null;
    }
  | { readonly what: 'redirect'; readonly location: string; readonly status: number }
);

/** Everything that happened to a transaction, oldest first. */
export function timelineOf(reader: Reader, transaction: TransactionRecord): TimelineEvent[] {
  const { id, createdAt, decidedAt, status, redirects } = transaction;
  const events: TimelineEvent[] = [{ at: createdAt, what: 'created' }];
  if (decidedAt !== null) events.push({ at: decidedAt, what: 'decided', transaction_status: status });
  for (const entry of reader.list('entry')) {
    if (entry.transactionId === id) events.push({ at: entry.at, what: 'entry', entry: viewEntry(entry) });
  }
  for (const delivery of reader.list('delivery')) {
    const { id: delivery_id, createdAt: at, misbehaves, attempts } = delivery;
    if (delivery.transactionId !== id) continue;
    events.push({ at, what: 'delivery', delivery_id, misbehaves });
    for (const [index, { at, status, error }] of attempts.entries()) {
      events.push({ at, what: 'attempt', delivery_id, number: index + 1, status, error });
    }
  }
  for (const redirect of redirects) events.push({ ...redirect, what: 'redirect' });
  // The sort is stable: events of the same millisecond keep the order above.
  return events.sort((a, b) => a.at - b.at);
}

const HEADER = ['Date', 'Reference', 'Internal reference', 'Type', 'Status', 'Currency', 'Amount', 'Charge'];

/**
 * The decided transactions as CSV (RFC 4180), oldest first, as a merchant would download them at the end of a month. File and
 * columns are simulated: a statement of the service is not shown.
 */
export function statementOf(transactions: readonly TransactionRecord[]): string {
  const rows = transactions.flatMap((one) => {
    if (one.decidedAt === null) return [];
    const { merchantReference, internalReference, transactionType, status, currency } = one;
    const money = [one.amount, one.charge].map((minor) => String(toAmount(minor, currency)));
    const date = new Date(one.decidedAt).toISOString();
    return [[date, merchantReference, internalReference, transactionType, status, currency, ...money]];
  });
  return [HEADER, ...rows].map(csvLine).join('');
}
