import type { TransactionPayload } from '@payment-service/core';
import { callbackData } from '../deliveries/callback-data.ts';
import type { Misbehaviour } from '../deliveries/misbehaviour.ts';
import type { DeliveryRecord, TransactionMode, TransactionRecord, TransferRecord } from '../state/records.ts';
import { toAmount } from './money.ts';

/** A transaction as /sandbox shows it: the 16 payload fields, and how it is simulated. Times are ISO 8601. */
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

/** A callback on its way or over, with every attempt. */
export interface SandboxDelivery {
  readonly id: number;
  readonly transaction_id: number;
  readonly url: string;
  readonly copy: number;
  readonly state: 'scheduled' | 'delivered' | 'given_up';
  readonly misbehaves: readonly string[];
  /** When the next attempt starts; null when it is over, or waits for another delivery. */
  readonly due_at: string | null;
  readonly signature: string;
  readonly body: string;
  readonly attempts: readonly {
    readonly at: string;
    readonly status: number | null;
    readonly error: string | null;
    readonly answer: string;
  }[];
}

const iso = (ms: number): string => new Date(ms).toISOString();

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

export function viewTransfer({ id, currency, amount, createdAt }: TransferRecord): SandboxTransfer {
  return { id, currency, amount: toAmount(amount, currency), created_at: iso(createdAt) };
}

export function viewDelivery(delivery: DeliveryRecord): SandboxDelivery {
  return {
    id: delivery.id,
    transaction_id: delivery.transactionId,
    url: delivery.url,
    copy: delivery.copy,
    state: delivery.state,
    misbehaves: delivery.misbehaves,
    due_at: delivery.dueAt === null ? null : iso(delivery.dueAt),
    signature: delivery.signature,
    body: delivery.body,
    attempts: delivery.attempts.map((attempt) => ({ ...attempt, at: iso(attempt.at) })),
  };
}
