import * as z from 'zod';
import type { PaymentProvider, PayoutBank, Wallet } from '../wire.ts';

/**
 * The one zod type that is exactly as strict as a field of the contract. With it a schema cannot drift: a field that is
 * missing, added, optional, or narrower than in `generated/` does not compile. An open union is any string.
 */
type FieldSchema<T> = [T] extends [boolean]
  ? z.ZodBoolean
  : [T] extends [number]
    ? z.ZodNumber
    : [T] extends [string]
      ? z.ZodString
      : [T] extends [string[]]
        ? z.ZodArray<z.ZodString>
        : never;

type FieldSchemas<T> = { [Field in keyof T]-?: FieldSchema<T[Field]> };

/** The schema of a contract type whose unknown fields are kept. */
export type ContractSchema<T> = z.ZodObject<FieldSchemas<T>, z.core.$loose>;

/** Exported for its type test only: the fields are a literal here, so that one too many does not compile either. */
export function contractSchema<T>(fields: FieldSchemas<T>): ContractSchema<T> {
  return z.looseObject(fields);
}

/** Protocol §2.2. */
export const paymentProviderSchema: ContractSchema<PaymentProvider> = contractSchema<PaymentProvider>({
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

/** Protocol §2.3. */
export const payoutBankSchema: ContractSchema<PayoutBank> = contractSchema<PayoutBank>({
  bank_code: z.string(),
  bank_name: z.string(),
  is_active: z.boolean(),
});

/** Protocol §2.4. */
export const walletSchema: ContractSchema<Wallet> = contractSchema<Wallet>({
  currency: z.string(),
  wallet_type: z.string(),
  available_balance: z.number(),
  actual_balance: z.number(),
  uncleared_balance: z.number(),
  reserve_balance: z.number(),
});
