import type { components, operations } from './generated/payment-service.ts';

/**
 * A payment option of the account (protocol §2.2). The limits of the sample are whole units of a currency without minor units;
 * the unit in other currencies is not shown (protocol §8).
 */
export type PaymentProvider = components['schemas']['PaymentProvider'];
/** A bank that a provider with BANK payouts supports (protocol §2.3). */
export type PayoutBank = components['schemas']['PayoutBank'];
/** A currency wallet of the account (protocol §2.4). The unit of its balances is not shown. */
export type Wallet = components['schemas']['Wallet'];
/** The object of a callback: `event` and `payload` (protocol §2.5). */
export type TransactionCallback = components['schemas']['TransactionCallback'];
/** The 16 fields of `payload` (protocol §2.5). */
export type TransactionPayload = components['schemas']['TransactionPayload'];
/** Filters of the payment options (protocol §4.1). */
export type PaymentProviderQuery = NonNullable<operations['listPaymentProviders']['parameters']['query']>;
/** The query of the payout banks (protocol §4.2). */
export type PayoutBankQuery = operations['listPayoutBanks']['parameters']['query'];
/** The filter of the balance inquiry (protocol §4.3). */
export type WalletQuery = NonNullable<operations['getWalletBalances']['parameters']['query']>;
