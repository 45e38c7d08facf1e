export { bodyText } from './body-text.ts';
export { canonicalAmount } from './canonical-amount.ts';
export { type Claim, type ClaimedAmounts, claimedAmounts } from './claimed-amounts.ts';
export {
  type AmountConfirmation,
  type AmountMismatch,
  confirmAmount,
  type ExpectedAmount,
} from './confirm-amount.ts';
export {
  ConfigurationError,
  InvalidStateError,
  PaymentServiceError,
  type PaymentServiceErrorCode,
  UnavailableError,
} from './errors.ts';
export { assertMerchantReference } from './merchant-reference.ts';
export { isTransactionCompleted } from './transaction-completed.ts';
export { createVerifier, type Verifier, type VerifierOptions } from './verify/create-verifier.ts';
export type { AuthenticRefusal, ForgedRefusal, Refusal, RefusalCode } from './verify/refusal.ts';
export { type SignedFields, transitionId } from './verify/signed-fields.ts';
export type { SigningKey } from './verify/signing-keys.ts';
export type { Timestamp } from './verify/timestamp.ts';
export type { UnsignedFields } from './verify/unsigned-fields.ts';
export type { Evidence, VerifiedCallback, VerifiedRedirect } from './verify/verified.ts';
export type { TransactionCallback, TransactionPayload } from './wire.ts';
