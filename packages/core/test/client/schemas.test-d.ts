import { expectTypeOf, test } from 'vitest';
import * as z from 'zod/mini';
import {
  contractSchema,
  type paymentProviderSchema,
  type payoutBankSchema,
  type walletSchema,
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

interface Sample {
  name: string;
  kind: 'A' | (string & {});
  amount: number;
  is_active: boolean;
  prefixes: string[];
}
const name = z.string();
const kind = z.string();
const amount = z.number();
const is_active = z.boolean();
const prefixes = z.array(z.string());

test('a schema that drifted from its type does not compile', () => {
  contractSchema<Sample>({ name, kind, amount, is_active, prefixes });
  // @ts-expect-error: a field is missing
  contractSchema<Sample>({ name, kind, amount, is_active });
  // @ts-expect-error: a field too many
  contractSchema<Sample>({ name, kind, amount, is_active, prefixes, more: z.string() });
  // @ts-expect-error: optional
  contractSchema<Sample>({ name: z.optional(name), kind, amount, is_active, prefixes });
  // @ts-expect-error: narrower
  contractSchema<Sample>({ name, kind: z.literal('A'), amount, is_active, prefixes });
  // @ts-expect-error: another type
  contractSchema<Sample>({ name, kind, amount: z.string(), is_active, prefixes });
});
