export type { AnyPaymentServiceError } from '../any-payment-service-error.ts';
export {
  AbortedError,
  ApiError,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  PaymentServiceError,
  type PaymentServiceErrorCode,
  type Sent,
  TimeoutError,
} from '../errors.ts';
export type {
  AttemptReport,
  CacheOptions,
  CallOptions,
  Client,
  ClientOptions,
  ClientOptionsWithSecretKey,
  ClientWithoutSecretKey,
  ClientWithSecretKey,
  Deviation,
  ExactWallet,
  FetchInit,
  Operation,
  PaymentProvider,
  PaymentProviderQuery,
  PayoutBank,
  PayoutBankQuery,
  ReferenceChange,
  Timing,
  Wallet,
  WalletQuery,
} from './client.ts';
export { createClient } from './create-client.ts';
export type { Method, RequestOptions, RequestResult, Schema } from './request/request.ts';
export type * from './selection/eligible-banks.ts';
export { eligibleBanks } from './selection/eligible-banks.ts';
export type * from './selection/eligible-providers.ts';
export { eligibleProviders } from './selection/eligible-providers.ts';
export type * from './selection/payout-balance.ts';
export { payoutBalance } from './selection/payout-balance.ts';
