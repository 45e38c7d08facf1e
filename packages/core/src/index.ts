export type { AnyPaymentServiceError } from './any-payment-service-error.ts';
export {
  ClosedError,
  ConfigurationError,
  InvalidInputError,
  InvalidStateError,
  NotFoundError,
  PaymentServiceError,
  type PaymentServiceErrorCode,
  type Sent,
  StaleError,
  UnavailableError,
} from './errors.ts';
export {
  type AmountConfirmation,
  type AmountMismatch,
  AmountMismatchError,
  assertAmount,
  type ConfirmedAmount,
  canonicalAmount,
  confirmAmount,
  type ExpectedAmount,
} from './money/amounts.ts';
export { createVerifier, type Verifier, type VerifierOptions } from './verify/create-verifier.ts';
export type { AuthenticRefusal, ForgedRefusal, Refusal, RefusalCode } from './verify/refusal.ts';
export type { Timestamp } from './verify/signature.ts';
export type { SignedFields, TransactionCallback, TransactionPayload } from './verify/signed-fields.ts';
export { assertMerchantReference, transitionId } from './verify/signed-fields.ts';
export type { SigningKey } from './verify/signing-keys.ts';
export type { UnsignedFields } from './verify/unsigned-fields.ts';
export {
  bodyText,
  type Evidence,
  isTransactionCompleted,
  type VerifiedCallback,
  type VerifiedRedirect,
} from './verify/verified.ts';
