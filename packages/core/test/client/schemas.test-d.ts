import { expectTypeOf, test } from 'vitest';
import type * as z from 'zod/mini';
import type {
  paymentProviderSchema,
  payoutBankSchema,
  walletSchema,
} from '../../src/client/response/envelope.ts';
import type { components } from '../../src/generated/payment-service.ts';

type Generated = components['schemas'];

/** Without the index signature of unknown fields. */
type Known<T> = { [Field in keyof T as string extends Field ? never : Field]: T[Field] };
/** An open union (`'Collection' | (string & {})`) accepts every string, and so does its schema. */
type Opened<T> = { [Field in keyof T]: T[Field] extends string ? string : T[Field] };
type Checked<T extends z.ZodMiniType> = Known<z.output<T>>;

test('each schema is equal to its generated type', () => {
  expectTypeOf<Checked<typeof paymentProviderSchema>>().toEqualTypeOf<Opened<Generated['PaymentProvider']>>();
  expectTypeOf<Checked<typeof payoutBankSchema>>().toEqualTypeOf<Opened<Generated['PayoutBank']>>();
  expectTypeOf<Checked<typeof walletSchema>>().toEqualTypeOf<Opened<Generated['Wallet']>>();
  expectTypeOf<z.output<typeof walletSchema>>().toExtend<Generated['Wallet']>();
});

test('the output of a schema keeps unknown fields', () => {
  expectTypeOf<z.output<typeof walletSchema>[string]>().toEqualTypeOf<unknown>();
});
