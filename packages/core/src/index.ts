export {
  type AmountConfirmation,
  type AmountMismatch,
  AmountMismatchError,
  amountMismatches,
  assertAmount,
  type Claim,
  type ClaimedAmounts,
  type ConfirmedAmount,
  canonicalAmount,
  claimedAmounts,
  confirmAmount,
  type ExpectedAmount,
} from './amounts.ts';
export {
  ConfigurationError,
  InvalidStateError,
  PaymentServiceError,
  type PaymentServiceErrorCode,
  UnavailableError,
} from './errors.ts';
export { unsignedFields } from './stored-body.ts';
export { createVerifier, type Verifier, type VerifierOptions } from './verify/create-verifier.ts';
export type { AuthenticRefusal, ForgedRefusal, Refusal, RefusalCode } from './verify/refusal.ts';
export type { Timestamp } from './verify/signature.ts';
export { assertMerchantReference, type SignedFields, transitionId } from './verify/signed-fields.ts';
export type { SigningKey } from './verify/signing-keys.ts';
export type { UnsignedFields } from './verify/unsigned-fields.ts';
export {
  bodyText,
  type Evidence,
  isTransactionCompleted,
  type VerifiedCallback,
  type VerifiedRedirect,
} from './verify/verified.ts';
export type { TransactionCallback, TransactionPayload } from './wire.ts';
