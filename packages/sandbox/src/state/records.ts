import type { SignedFields } from '@payment-service/core';
import type { PaymentProvider, PayoutBank } from '@payment-service/core/client';
import type { Misbehaviour } from './misbehaviour.ts';
import type { Minor } from './money.ts';
import type { RetryRules } from './retries.ts';

/** The records of the sandbox. They are never changed, only replaced, and contain plain JSON. */
export interface Records {
  account: { readonly seed: string };
  settings: SettingsRecord;
  counter: { readonly next: number };
  wallet: WalletRecord;
  entry: EntryRecord;
  waiting: IdRecord;
  /** The total of one provider on one day, for max_daily_amount. */
  spent: { readonly amount: Minor };
  transaction: TransactionRecord;
  transfer: TransferRecord;
  delivery: DeliveryRecord;
  queued: IdRecord;
  seen: IdRecord;
  provider: SandboxProvider;
  request: RequestRecord;
  check: CheckRecord;
}

export type Kind = keyof Records;

/** The defaults of requests, under their names on the wire. */
export interface Settings {
  /** Where callbacks are sent; null for nowhere. */
  readonly callback_url: string | null;
  /** Where the customer's browser returns to; null for nowhere. */
  readonly redirect_url: string | null;
  /**
   * Addresses of the merchant's pages of an order and of its inbox row, with `{merchant_reference}`. The dashboard links to
   * them.
   */
  readonly order_url: string | null;
  readonly inbox_url: string | null;
  readonly misbehave: Misbehaviour;
  readonly retry: Partial<RetryRules>;
  /** How long /data/… waits before each response, in milliseconds. */
  readonly api_latency_ms: number;
  /** The error that every call to /data/… returns; null for none. */
  readonly api_error: 429 | 500 | 503 | null;
}

/** Settings that replace the stored ones, unless they are undefined. */
export type GivenSettings = { readonly [Name in keyof Settings]?: Settings[Name] | undefined };

export interface SettingsRecord extends Settings {
  /** How far the sandbox's clock was moved ahead, in milliseconds. */
  readonly clockOffset: number;
}

export type WalletType = 'MERCHANT_COLLECTION' | 'MERCHANT_PAYOUT';

/** Balances in minor units. The actual balance is always their sum, so it is computed and never stored. */
export interface WalletRecord {
  readonly currency: string;
  readonly walletType: WalletType;
  readonly available: Minor;
  readonly uncleared: Minor;
  readonly reserve: Minor;
}

/** One change of one balance. The entries of a balance add up to it. */
export interface EntryRecord {
  readonly id: number;
  readonly at: number;
  readonly currency: string;
  readonly walletType: WalletType;
  readonly bucket: 'available' | 'uncleared' | 'reserve';
  /** Negative if money leaves the balance. */
  readonly amount: Minor;
  readonly cause: 'collection' | 'deposit' | 'transfer' | 'payout' | 'payout_returned' | 'clearing';
  /** When it becomes available, in milliseconds since 1970, on the sandbox's clock; null if it is not held. */
  readonly freeAt: number | null;
  readonly transactionId: number | null;
}

export type TransactionStatus = 'PENDING' | 'COMPLETED' | 'FAILED';
export type TransactionMode = 'page' | 'direct' | 'pending';

export interface TransactionRecord {
  readonly id: number;
  readonly merchantReference: string;
  readonly internalReference: string;
  readonly transactionType: 'COLLECTION' | 'PAYOUT';
  readonly currency: string;
  readonly amount: Minor;
  readonly charge: Minor;
  readonly totalCredit: Minor;
  readonly account: string;
  readonly customerName: string;
  readonly chargeCustomer: boolean;
  readonly providerCode: string;
  readonly bankCode: string | null;
  readonly status: TransactionStatus;
  readonly statusMessage: string;
  readonly mode: TransactionMode;
  readonly callbackUrl: string | null;
  readonly redirectUrl: string | null;
  readonly misbehave: Misbehaviour;
  readonly retry: RetryRules;
  /** The key of the record `spent` that this transaction counts in. */
  readonly spentKey: string;
  readonly createdAt: number;
  readonly decidedAt: number | null;
  /** The times at which the customer's browser returned to the merchant. */
  readonly redirects: readonly { readonly at: number; readonly location: string; readonly status: number }[];
}

export interface TransferRecord {
  readonly id: number;
  readonly currency: string;
  readonly amount: Minor;
  readonly createdAt: number;
}

/** A header as sent, in its order and spelling. */
export type HeaderPair = readonly [name: string, value: string];

/** The start of a body: at most 16 KiB. */
export interface BodyStart {
  readonly body: string;
  /** The length of the whole body in bytes; null if unknown. */
  readonly bytes: number | null;
  /** Whether `body` is only its start. */
  readonly is_cut: boolean;
}

export interface AttemptAnswer extends BodyStart {
  readonly headers: readonly HeaderPair[];
}

export interface DeliveryAttempt {
  /** When it ended, in milliseconds since 1970, on the sandbox's clock. */
  readonly at: number;
  /** Its duration in milliseconds, on a monotonic clock; null if nothing was sent. */
  readonly ms: number | null;
  /** What this attempt sent besides the address and the body of its delivery; null if nothing was sent. */
  readonly sent: { readonly headers: readonly HeaderPair[]; readonly signature: string } | null;
  /** The HTTP status of the response, if there was one. */
  readonly status: number | null;
  readonly response: AttemptAnswer | null;
  /** Why there was no complete response. */
  readonly error: string | null;
  /** The same as a code: NOT_SENT, TIMEOUT, or the platform's own, such as ECONNREFUSED. */
  readonly error_code: string | null;
}

/** How a signature was made. `t` is not signed, so it may say anything (threat A28). */
export interface Signing {
  /** The key of the account, or deliberately another one. */
  readonly key: 'account' | 'other';
  /** How far `t` is from the sandbox's clock. */
  readonly offsetSeconds: number;
  /** The unit of `t`; null for the sandbox's own. */
  readonly unit: 'seconds' | 'milliseconds' | null;
}

export interface DeliveryRecord {
  readonly id: number;
  readonly transactionId: number;
  readonly createdAt: number;
  /** The delivery that was resent or composed again; null for a callback of the transaction itself. */
  readonly origin: number | null;
  readonly url: string;
  /** 0 for the callback itself, 1 and up for its repetitions. */
  readonly copy: number;
  readonly body: string;
  /** The signature of the newest attempt. */
  readonly signature: string;
  /** The five strings that were signed, which may differ from those in the body. */
  readonly signed: SignedFields;
  readonly signing: Signing;
  readonly retry: RetryRules;
  /** What this delivery deliberately does wrong, in words. */
  readonly misbehaves: readonly string[];
  readonly state: 'scheduled' | 'delivered' | 'given_up';
  /** When the next attempt starts; null while it waits for another delivery. */
  readonly dueAt: number | null;
  /** The delivery whose first attempt this one waits for. */
  readonly after: number | null;
  /** Out of order: waits until the callback of a later transaction has been sent. */
  readonly held: boolean;
  readonly attempts: readonly DeliveryAttempt[];
}

/**
 * An index of scheduled deliveries and of entries that are not yet available, so that finished ones cost nothing; and of failed
 * deliveries that the reader has dismissed.
 */
export interface IdRecord {
  readonly id: number;
}

/** A call to /data/… or /sandbox/…; the newest 500 are kept. */
export interface RequestRecord extends BodyStart {
  readonly id: number;
  readonly at: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** The two keys are truncated to their last four characters. */
  readonly headers: readonly HeaderPair[];
  /** The body of the request, as far as the sandbox read it. */
  readonly sent: string;
  readonly status: number;
  /** The headers of the response. */
  readonly response_headers: readonly HeaderPair[];
  /** Why it was refused; null if it was not. */
  readonly refusal: string | null;
  readonly ms: number;
}

/** A payment option as the contract lists it, and how the sandbox simulates it. */
export interface SandboxProvider {
  /** Exactly what GET /data/payment-providers returns; amounts in whole units of the currency. */
  readonly option: Readonly<PaymentProvider>;
  /** The simulated fee on a collection, in basis points of the amount (300 = 3 %). */
  readonly chargeBasisPoints: number;
  /** Seconds from completion until the credit becomes available; 0 for immediately. */
  readonly clearingSeconds: number;
  /** The rolling reserve: the share of the credit that is held, and for how long. */
  readonly reserve?: { readonly basisPoints: number; readonly seconds: number } | undefined;
  /** The banks to which it pays out (method BANK). */
  readonly banks?: readonly Readonly<PayoutBank>[] | undefined;
}

/** The result of one case. */
export interface CheckResult {
  /** A stable name, such as `wrong_key`. */
  readonly name: string;
  /** A description of the case. */
  readonly title: string;
  /** The correct responses, in words. */
  readonly expected: string;
  /** The response, in words. */
  readonly got: string;
  /** The HTTP status; null if there was no response. */
  readonly status: number | null;
  /** Its duration in milliseconds; null if nothing was sent. */
  readonly ms: number | null;
  /** `warn`: not wrong, but it loses callbacks or hides what happened. */
  readonly verdict: 'pass' | 'warn' | 'fail';
  /** What to do; empty if nothing. */
  readonly fix: string;
}

/** How an endpoint treats genuine and wrong callbacks. */
export interface CheckReport {
  readonly url: string;
  /** Whether no case failed. */
  readonly ok: boolean;
  /** In the order in which they were posted; only the first one if it got no response. */
  readonly results: readonly CheckResult[];
}

/** The newest check of an endpoint, finished or not. */
export interface CheckRecord extends CheckReport {
  readonly at: number;
}
