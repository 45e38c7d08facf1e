import { expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import type { PaymentProvider, PayoutBank, Wallet } from '../src/client/index.ts';
import { envelope, paymentProvider, payoutBank, wallet } from '../src/zod.ts';
import * as samples from './client/wire-samples.ts';

const ROWS = { paymentProvider, payoutBank, wallet };
const SAMPLES = { paymentProvider: samples.provider, payoutBank: samples.bank, wallet: samples.wallet };
const NAMES = Object.keys(ROWS) as (keyof typeof ROWS)[];

test.each(NAMES)('%s accepts a row of the contract unchanged, unknown fields included', (name) => {
  const row = { ...SAMPLES[name], added_later: 1 };
  expect(ROWS[name].parse(row)).toEqual(row);
});

test.each(NAMES)('%s refuses a row that lacks a field, or has one of another type', (name) => {
  for (const field of Object.keys(SAMPLES[name])) {
    const issues = [{ path: [field], code: 'invalid_type' }];
    for (const wrong of [undefined, null, {}])
      expect(ROWS[name].safeParse({ ...SAMPLES[name], [field]: wrong }).error).toMatchObject({ issues });
  }
});

test('envelope() accepts a success around its data, within a schema of zod, and refuses an error', () => {
  const balances = envelope(z.object({ merchant_wallets: z.array(wallet) }));
  const success = {
    code: 200,
    status: 'success',
    message: 'Done',
    data: { merchant_wallets: [samples.wallet] },
  };
  expect(z.tuple([balances]).parse([success])).toEqual([success]);
  expect(balances.safeParse({ ...success, status: 'error', data: {} }).error?.issues).toMatchObject([
    { path: ['status'] },
    { path: ['data', 'merchant_wallets'] },
  ]);
});

test('a parsed row has the type of the contract', () => {
  expectTypeOf<z.infer<typeof paymentProvider>>().toExtend<PaymentProvider>();
  expectTypeOf<z.infer<typeof payoutBank>>().toExtend<PayoutBank>();
  expectTypeOf<z.infer<typeof wallet>>().toExtend<Wallet>();
  const balances = envelope(z.object({ merchant_wallets: z.array(wallet) }));
  expectTypeOf<z.infer<typeof balances>['data']['merchant_wallets']>().toExtend<Wallet[]>();
});
