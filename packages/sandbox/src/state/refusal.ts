import { PaymentServiceError } from '@payment-service/core';

/** Why the sandbox refused an operation under /sandbox. Simulated: the service's own codes are not shown. */
export type SandboxRefusalReason =
  | 'malformed_request'
  | 'not_found'
  | 'unknown_provider'
  | 'provider_inactive'
  | 'currency_not_served'
  | 'unknown_bank'
  | 'bank_inactive'
  | 'account_not_served'
  | 'amount_too_small'
  | 'amount_too_large'
  | 'daily_limit_reached'
  | 'insufficient_balance'
  | 'balance_limit'
  | 'already_decided'
  | 'already_scheduled'
  | 'destination_refused';

/** Malformed, not found, already decided, longer than 64 KiB, and understood but refused. */
export type RefusalStatus = 400 | 404 | 409 | 413 | 422;

const STATUS: Readonly<Partial<Record<SandboxRefusalReason, RefusalStatus>>> = {
  malformed_request: 400,
  not_found: 404,
  already_decided: 409,
  already_scheduled: 409,
};

/**
 * The sandbox understood an operation and refused it. In-process calls (`sandbox.collect()`) throw it; over HTTP it
 * is the error envelope with `data: { reason, field }`.
 *
 * @example
 * catch (error) {
 *   if (error instanceof SandboxRefusal && error.reason === 'insufficient_balance') topUp();
 * }
 */
export class SandboxRefusal extends PaymentServiceError {
  override readonly name: string = 'SandboxRefusal';
  override readonly code = 'sandbox_refusal';
  /** The HTTP status of the same refusal over HTTP. */
  readonly status: RefusalStatus;
  readonly reason: SandboxRefusalReason;
  /** The name of the request field that is wrong, if it is a field. */
  readonly field: string | undefined;

  constructor(reason: SandboxRefusalReason, message: string, field?: string, status?: RefusalStatus) {
    super(message);
    this.status = status ?? STATUS[reason] ?? 422;
    this.reason = reason;
    this.field = field;
  }
}

/** Throws it. `field` is the name of the request field that is wrong, if it is a field. */
export function refuse(reason: SandboxRefusalReason, message: string, field?: string): never {
  throw new SandboxRefusal(reason, message, field);
}
