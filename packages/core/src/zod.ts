import * as z from 'zod/mini';
import type { PaymentProvider, PayoutBank, Wallet } from './client/client.ts';
import type { operations } from './generated/payment-service.ts';

/** One schema per required field: one that is missing, added, or of a different type from `generated/` does not compile. */
type Shape<T> = {
  readonly [Field in keyof T as object extends Pick<T, Field> ? never : Field]: z.ZodMiniType<T[Field]>;
};
/** Unknown fields of a response are kept, as in the client. */
type Schema<T> = z.ZodMiniObject<Shape<T>, z.core.$loose>;
/** The success envelope, the same in all three responses of the contract. */
type Envelope = operations['getWalletBalances']['responses'][200]['content']['application/json'];

/**
 * A payment option of the account (protocol §2.2), for zod and zod/mini. The client checks its own responses without it.
 *
 * @example
 * z.array(paymentProvider).parse(JSON.parse(await redis.get('providers')));
 */
export const paymentProvider: Schema<PaymentProvider> = z.looseObject<Shape<PaymentProvider>>({
  provider_name: z.string(),
  provider_code: z.string(),
  transaction_method: z.string(),
  transaction_method_name: z.string(),
  transaction_type: z.string(),
  transaction_currency: z.string(),
  min_amount: z.number(),
  max_amount: z.number(),
  max_daily_amount: z.number(),
  is_active: z.boolean(),
  option_prefixes: z.array(z.string()),
});

/**
 * A bank that a provider with BANK payouts supports (protocol §2.3).
 *
 * @example
 * const banks = z.array(payoutBank).parse(cached);
 */
export const payoutBank: Schema<PayoutBank> = z.looseObject<Shape<PayoutBank>>({
  bank_code: z.string(),
  bank_name: z.string(),
  is_active: z.boolean(),
});

/**
 * A wallet of the account (protocol §2.4). A balance of more than 15 digits is not exact as a number: use `exact` of the client's
 * `getWalletBalances()`.
 *
 * @example
 * const wallets = z.array(wallet).parse(cached);
 */
export const wallet: Schema<Wallet> = z.looseObject<Shape<Wallet>>({
  currency: z.string(),
  wallet_type: z.string(),
  available_balance: z.number(),
  actual_balance: z.number(),
  uncleared_balance: z.number(),
  reserve_balance: z.number(),
});

/**
 * The envelope of a success (protocol §2.1), around a schema for its `data`. `client.request()` checks the envelope itself and
 * needs only a schema for `data`.
 *
 * @example
 * const { data } = envelope(z.object({ merchant_wallets: z.array(wallet) })).parse(await response.json());
 */
export function envelope<Data extends z.ZodMiniType>(
  data: Data,
): z.ZodMiniObject<Shape<Omit<Envelope, 'data'>> & { readonly data: Data }, z.core.$loose> {
  return z.looseObject({ code: z.int(), status: z.literal('success'), message: z.string(), data });
}
