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
export type * from './client.ts';
export { createClient } from './create-client.ts';
export type * from './eligible-banks.ts';
export { eligibleBanks } from './eligible-banks.ts';
export type * from './eligible-providers.ts';
export { eligibleProviders } from './eligible-providers.ts';
export type * from './payout-balance.ts';
export { payoutBalance } from './payout-balance.ts';
