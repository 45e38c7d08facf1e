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
  /** The name of the request field that is to blame, where it is one. */
  readonly field: string | undefined;

  constructor(status: RefusalStatus, reason: SandboxRefusalReason, message: string, field?: string) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.field = field;
  }
}

export const refuse = (reason: SandboxRefusal['reason'], message: string, field: string): never => {
  throw new SandboxRefusal(reason === 'malformed_request' ? 400 : 422, reason, message, field);
};
