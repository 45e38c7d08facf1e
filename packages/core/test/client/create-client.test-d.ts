import { expectTypeOf, test } from 'vitest';
import type {
  Client,
  ClientOptions,
  ClientWithSecretKey,
  ExactWallet,
  PaymentProvider,
  PayoutBank,
} from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';

// Compiled, never run: `tsc` is the test.
declare const fromEnvironment: string | undefined;
const baseUrl = 'https://service.example';
const publicKey = 'pk';
const secretKey = 'sk';

test('only a client made with secretKey has getWalletBalances() in its type', () => {
  expectTypeOf(createClient({ baseUrl, publicKey, secretKey })).toEqualTypeOf<ClientWithSecretKey>();
  expectTypeOf(createClient({ baseUrl, publicKey })).toEqualTypeOf<Client>();
  expectTypeOf(createClient({ baseUrl, publicKey })).not.toHaveProperty('getWalletBalances');
  // @ts-expect-error: made without secretKey
  createClient({ baseUrl, publicKey }).getWalletBalances;
});

test('environment variables can be passed directly', () => {
  expectTypeOf(
    createClient({ baseUrl: fromEnvironment, publicKey: fromEnvironment, secretKey: fromEnvironment }),
  ).toEqualTypeOf<ClientWithSecretKey>();
});

test('options that may lack a secretKey make a client without balances', () => {
  const options: ClientOptions = { baseUrl, publicKey, secretKey };
  expectTypeOf(createClient(options)).toEqualTypeOf<Client>();
});

test('options that are missing or misspelt do not compile', () => {
  // @ts-expect-error: publicKey is required
  createClient({ baseUrl });
  // @ts-expect-error: baseUrl is required
  createClient({ publicKey });
  // @ts-expect-error: a misspelt option
  createClient({ baseUrl, publicKey, timeout: 1000 });
  // @ts-expect-error: a cache without a time to live
  createClient({ baseUrl, publicKey, cache: {} });
});

test('calls take the queries of the contract and return its types', () => {
  const client = createClient({ baseUrl, publicKey, secretKey });
  const { signal } = new AbortController();
  expectTypeOf(client.listPaymentProviders()).resolves.toEqualTypeOf<PaymentProvider[]>();
  expectTypeOf(client.listPayoutBanks({ provider_code: 'x' })).resolves.toEqualTypeOf<PayoutBank[]>();
  expectTypeOf(client.getWalletBalances({ currency: 'UGX' }, { signal })).resolves.toEqualTypeOf<
    ExactWallet[]
  >();
  // @ts-expect-error: provider_code is required
  void client.listPayoutBanks();
  // @ts-expect-error: provider_code is required
  void client.listPayoutBanks({});
  // @ts-expect-error: unknown filter
  void client.listPaymentProviders({ country: 'UG' });
  // @ts-expect-error: a filter is a string
  void client.getWalletBalances({ currency: 1 });
});
