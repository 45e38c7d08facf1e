export { bodyText } from './body-text.ts';
export { type IncomingCallback, type ReceivedCallback, receiveCallback } from './callback.ts';
export { canonicalAmount } from './canonical-amount.ts';
export { type Claim, type ClaimedAmounts, claimedAmounts } from './claimed-amounts.ts';
export type * from './client/client-options.ts';
export { createClient } from './client/create-client.ts';
export type { Timing } from './client/timing.ts';
export {
  type AmountConfirmation,
  type AmountMismatch,
  confirmAmount,
  type ExpectedAmount,
} from './confirm-amount.ts';
export type * from './eligible-providers.ts';
export { eligibleProviders } from './eligible-providers.ts';
export {
  ApiError,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  InvalidStateError,
  PaymentServiceError,
  type PaymentServiceErrorCode,
  TimeoutError,
  UnavailableError,
} from './errors.ts';
export { assertMerchantReference } from './merchant-reference.ts';
export type { CallbackOptions, CallbackReceiver, RedirectOptions, RedirectReceiver } from './receiver.ts';
export { createCallbackReceiver, createRedirectReceiver } from './receiver.ts';
export { type IncomingRedirect, type ReceivedRedirect, receiveRedirect } from './redirect.ts';
export type { IncomingBody } from './request-body.ts';
export { isTransactionCompleted } from './transaction-completed.ts';
export { createVerifier, type Verifier, type VerifierOptions } from './verify/create-verifier.ts';
export type { AuthenticRefusal, ForgedRefusal, Refusal, RefusalCode } from './verify/refusal.ts';
export { type SignedFields, transitionId } from './verify/signed-fields.ts';
export type { SigningKey } from './verify/signing-keys.ts';
export type { Timestamp } from './verify/timestamp.ts';
export type { UnsignedFields } from './verify/unsigned-fields.ts';
export type { Evidence, VerifiedCallback, VerifiedRedirect } from './verify/verified.ts';
export type * from './wire.ts';
