import { expectTypeOf, test } from 'vitest';
import type * as types from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import type { RequestResult, Schema } from '../../src/client/request/request.ts';

// Compiled, never run: `tsc` is the test.

declare const fromEnvironment: string | undefined;
const baseUrl = 'https://service.example';
const publicKey = 'pk';
const secretKey = 'sk';

test('only a client made with secretKey has getWalletBalances() in its type', () => {
  expectTypeOf(createClient({ baseUrl, publicKey, secretKey })).toEqualTypeOf<types.ClientWithSecretKey>();
  // The name that a compiler's error shows for a missing getWalletBalances().
  expectTypeOf(createClient({ baseUrl, publicKey })).toEqualTypeOf<types.ClientWithoutSecretKey>();
  expectTypeOf(createClient({ baseUrl, publicKey })).not.toHaveProperty('getWalletBalances');
  // @ts-expect-error: made without secretKey
  createClient({ baseUrl, publicKey }).getWalletBalances;
});

test('environment variables can be passed directly', () => {
  expectTypeOf(
    createClient({ baseUrl: fromEnvironment, publicKey: fromEnvironment, secretKey: fromEnvironment }),
  ).toEqualTypeOf<types.ClientWithSecretKey>();
});

test('options that may lack a secretKey make a client without balances', () => {
  const options: types.ClientOptions = { baseUrl, publicKey, secretKey };
  expectTypeOf(createClient(options)).toEqualTypeOf<types.Client>();
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
  expectTypeOf(client.listPaymentProviders()).resolves.toEqualTypeOf<types.PaymentProvider[]>();
  expectTypeOf(client.listPayoutBanks({ provider_code: 'x' })).resolves.toEqualTypeOf<types.PayoutBank[]>();
  expectTypeOf(client.getWalletBalances({ currency: 'UGX' }, { signal })).resolves.toEqualTypeOf<
    types.ExactWallet[]
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

/** The shape is that of openapi-typescript. */
interface Paths {
  '/collections': {
    post: {
      parameters: { query?: { readonly dry?: boolean } };
      requestBody: {
        content: { 'application/json': { readonly reference: string; readonly amount: number } };
      };
      responses: { 201: { content: { 'application/json': { data: { readonly id: string } } } } };
    };
    get?: never;
  };
  '/collections/{id}': {
    get: {
      parameters: { path: { readonly id: string } };
      responses: {
        200: { content: { 'application/json': { data: { readonly state: string } } } };
        404: { content: { 'application/json': { message: string } } };
      };
    };
    post?: never;
  };
}
declare const schema: Schema<{ readonly id: number }>;
const plain = createClient({ baseUrl, publicKey });
const secret = createClient({ baseUrl, publicKey, secretKey });
const typed = createClient<Paths>({ baseUrl, publicKey, secretKey });
const body = { reference: 'ORD-1', amount: 500 };

test('without a contract, data is unknown until a schema says what it is', () => {
  expectTypeOf(plain.request({ method: 'GET', path: '/x' })).resolves.toEqualTypeOf<RequestResult>();
  expectTypeOf(plain.request({ method: 'POST', path: '/x', body, schema })).resolves.toEqualTypeOf<
    RequestResult<{ readonly id: number }>
  >();
  void secret.request({ method: 'POST', path: '/x', secretKey: true, repeat: 'safe' });
});

test('what is no call does not compile', () => {
  // @ts-expect-error: no path
  void plain.request({ method: 'GET' });
  // @ts-expect-error: no method of HTTP
  void plain.request({ method: 'SEND', path: '/x' });
  // @ts-expect-error: a body is an object or a list
  void plain.request({ method: 'POST', path: '/x', body: 'text' });
  // @ts-expect-error: only the word 'safe' allows repetitions
  void plain.request({ method: 'POST', path: '/x', repeat: true });
  // @ts-expect-error: a client without a secret key cannot send it
  void plain.request({ method: 'POST', path: '/x', secretKey: true });
});

test('with a contract, parameters, body and data have its types', () => {
  expectTypeOf(typed.request({ method: 'POST', path: '/collections', body })).resolves.toEqualTypeOf<
    RequestResult<{ readonly id: string }>
  >();
  expectTypeOf(
    typed.request({ method: 'GET', path: '/collections/{id}', params: { id: 'a' } }),
  ).resolves.toEqualTypeOf<RequestResult<{ readonly state: string }>>();
});

test('what the contract does not have does not compile', () => {
  // @ts-expect-error: no such path
  void typed.request({ method: 'GET', path: '/collection' });
  // @ts-expect-error: this path has no GET
  void typed.request({ method: 'GET', path: '/collections' });
  // @ts-expect-error: the parameter is missing
  void typed.request({ method: 'GET', path: '/collections/{id}' });
  // @ts-expect-error: the body is missing
  void typed.request({ method: 'POST', path: '/collections' });
  // @ts-expect-error: an amount as text
  void typed.request({ method: 'POST', path: '/collections', body: { ...body, amount: '500' } });
  // @ts-expect-error: an unknown filter
  void typed.request({ method: 'POST', path: '/collections', body, query: { wet: true } });
});
