export {
  ApiError,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  PaymentServiceError,
  TimeoutError,
} from '../errors.ts';
export type {
  PaymentProvider,
  PaymentProviderQuery,
  PayoutBank,
  PayoutBankQuery,
  Wallet,
  WalletQuery,
} from '../wire.ts';
export type {
  AttemptReport,
  CacheOptions,
  CallOptions,
  Client,
  ClientOptions,
  ClientOptionsWithSecretKey,
  ClientWithSecretKey,
  Deviation,
  FetchInit,
  Operation,
} from './client.ts';
export { createClient } from './create-client.ts';
export {
  eligibleProviders,
  type IneligibilityCode,
  type IneligibilityReason,
  type IneligibleProvider,
  type IntendedPayment,
  type ProviderEligibility,
} from './eligible-providers.ts';
export type { Timing } from './timing.ts';
