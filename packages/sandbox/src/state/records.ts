import type { Misbehaviour, RetryRules } from '../deliveries/misbehaviour.ts';
import type { Minor } from '../service/money.ts';

/** What the sandbox keeps. Records are never changed, only replaced; everything in them is plain JSON. */
export interface Records {
  account: AccountRecord;
  settings: SettingsRecord;
  counter: CounterRecord;
  wallet: WalletRecord;
  lot: LotRecord;
  spent: SpentRecord;
  transaction: TransactionRecord;
  transfer: TransferRecord;
  delivery: DeliveryRecord;
  queued: QueuedRecord;
}

export type Kind = keyof Records;

export interface AccountRecord {
  readonly seed: string;
}

export interface SettingsRecord {
  /** How far the sandbox's clock was moved ahead, in milliseconds. */
  readonly clockOffset: number;
  /** What callbacks do when a request does not say. */
  readonly misbehave: Misbehaviour;
  readonly retry: Partial<RetryRules>;
}

export interface CounterRecord {
  readonly next: number;
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

/** A part of an uncleared or reserve balance, and when it becomes available. */
export interface LotRecord {
  readonly id: number;
  readonly currency: string;
  readonly bucket: 'uncleared' | 'reserve';
  readonly amount: Minor;
  /** Milliseconds since the epoch, on the sandbox's clock. */
  readonly dueAt: number;
  readonly transactionId: number;
}

/** What went through one provider on one day, for max_daily_amount. */
export interface SpentRecord {
  readonly amount: Minor;
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
  /** The key of the SpentRecord that this transaction counts in. */
  readonly spentKey: string;
  readonly createdAt: number;
  readonly decidedAt: number | null;
}

export interface TransferRecord {
  readonly id: number;
  readonly currency: string;
  readonly amount: Minor;
  readonly createdAt: number;
}

export interface DeliveryAttempt {
  /** Milliseconds since the epoch, on the sandbox's clock. */
  readonly at: number;
  /** The HTTP status, when an answer came. */
  readonly status: number | null;
  /** Why no answer came, or why it does not count. */
  readonly error: string | null;
  /** The start of the answer's body, at most 512 characters. */
  readonly answer: string;
}

export interface DeliveryRecord {
  readonly id: number;
  readonly transactionId: number;
  readonly url: string;
  /** 0 for the callback itself, 1 and up for its repetitions. */
  readonly copy: number;
  readonly body: string;
  readonly signature: string;
  /** Signed with another account's key on purpose. */
  readonly badSignature: boolean;
  /** What this delivery does wrong on purpose, in words. */
  readonly misbehaves: readonly string[];
  readonly state: 'scheduled' | 'delivered' | 'given_up';
  /** When the next attempt starts; null while it waits for another delivery. */
  readonly dueAt: number | null;
  /** The delivery whose first attempt this one waits for. */
  readonly after: number | null;
  /** Out of order: waits until the callback of a later transaction is through. */
  readonly held: boolean;
  readonly attempts: readonly DeliveryAttempt[];
}

/** Marks a delivery that is still scheduled, so that nobody has to look through those that are over. */
export interface QueuedRecord {
  readonly id: number;
}
