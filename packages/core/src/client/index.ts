export {
  AbortedError,
  ApiError,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  PaymentServiceError,
  type Sent,
  TimeoutError,
} from '../errors.ts';
export type * from './client.ts';
export { createClient } from './create-client.ts';
export type * from './request/request.ts';
export type * from './selection/eligible-banks.ts';
export { eligibleBanks } from './selection/eligible-banks.ts';
export type * from './selection/eligible-providers.ts';
export { eligibleProviders } from './selection/eligible-providers.ts';
export type * from './selection/payout-balance.ts';
export { payoutBalance } from './selection/payout-balance.ts';
