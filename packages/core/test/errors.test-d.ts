import type { AnyPaymentServiceError, PaymentServiceErrorCode, Sent } from '../src/client/index.ts';
import type * as main from '../src/index.ts';

// Only compiled, never run: what must compile, and what must not.

export function said(error: AnyPaymentServiceError): unknown {
  // @ts-expect-error: not every error has it
  error.status;
  switch (error.code) {
    case 'api_error':
      return error.status;
    case 'invalid_configuration':
      return [error.option, error.docs];
    case 'invalid_input':
      return error.field;
    case 'amount_mismatch':
      return error.mismatches;
    case 'unavailable':
      return error.retryAfterSeconds;
    // @ts-expect-error: no error has this code
    case 'not_fuond':
      return undefined;
    default:
      return error.message;
  }
}

/** Every code but that of the sandbox is of a class in the union. */
export const all: Exclude<PaymentServiceErrorCode, AnyPaymentServiceError['code']> extends 'sandbox_refusal'
  ? true
  : false = true;
export const same: main.AnyPaymentServiceError extends AnyPaymentServiceError ? Sent : never = 'no';
