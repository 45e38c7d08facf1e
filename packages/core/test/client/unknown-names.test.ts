import { describe, expect, test } from 'vitest';
import type { PayoutBank, PayoutBankQuery } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { eligibleBanks } from '../../src/client/selection/eligible-banks.ts';
import { eligibleProviders } from '../../src/client/selection/eligible-providers.ts';
import { ConfigurationError } from '../../src/errors.ts';
import { clientWith, failureOf, serve, success } from './local-service.ts';
import { provider, wallet } from './wire-samples.ts';

const PAYMENT = { account: '256772000001', amount: 500, currency: 'UGX', transaction_type: 'COLLECTION' };

const client = clientWith(() => expect.fail('A request was sent.'));
/** Every function of the client that takes an object, and the names that it knows. */
const functions: readonly [string, readonly string[], (options: object) => unknown][] = [
  ['eligibleProviders()', Object.keys(PAYMENT), (options) => eligibleProviders([provider], options)],
  ['listPaymentProviders()', ['currency', 'transaction_type'], (query) => client.listPaymentProviders(query)],
  ['listPayoutBanks()', ['provider_code'], (query) => client.listPayoutBanks(query as PayoutBankQuery)],
  ['getWalletBalances()', ['currency'], (query) => client.getWalletBalances(query)],
  ['listPaymentProviders()', ['signal'], (options) => client.listPaymentProviders({}, options)],
  ['listPayoutBanks()', ['signal'], (options) => client.listPayoutBanks({ provider_code: 'x' }, options)],
  ['getWalletBalances()', ['signal'], (options) => client.getWalletBalances({}, options)],
];

async function refusalOf(run: () => unknown): Promise<ConfigurationError> {
  const error = await failureOf((async () => run())());
  if (!(error instanceof ConfigurationError))
    throw new Error('It is not a ConfigurationError.', { cause: error });
  return error;
}

describe.each(functions)('%s refuses names that it does not know', (call, known, run) => {
  test('another name is refused, whatever its value, and the similar name is suggested', async () => {
    const { option, message } = await refusalOf(() => run({ constructor: undefined }));
    expect([option, message]).toEqual(['constructor', expect.stringContaining(`${call} does not know`)]);
    for (const name of known) {
      for (const near of [name.toUpperCase(), `${name}s`, name.slice(0, -1)]) {
        const { message } = await refusalOf(() => run({ [near]: undefined }));
        expect(message).toBe(`${call} does not know the option "${near}". Did you mean "${name}"?`);
      }
    }
  });
});

test.each([
  ['timeoutMs', { timeoutMs: 5 }],
  ['signal', { signal: new AbortController() }],
  ['signal', { signal: 'abort' }],
  ['fresh', { fresh: 'yes' }],
  ['options', null],
])('the call option %s is refused with the value %j', async (option, options) => {
  const error = await refusalOf(() => client.listPaymentProviders({}, options as object));
  expect(error.option).toBe(option);
});

const query = (given: unknown): PayoutBankQuery => given as PayoutBankQuery;
test.each<[option: string, message: string, call: () => Promise<unknown>]>([
  ['query', 'query must be an object. It is a string.', () => client.listPayoutBanks(query('mtn'))],
  ['query', 'query must be an object. It is null.', () => client.listPayoutBanks(query(null))],
  ['provider_code', 'provider_code must be a non-empty string.', () => client.listPayoutBanks(query({}))],
  [
    'provider_code',
    'provider_code must be a non-empty string.',
    () => client.listPayoutBanks({ provider_code: '' }),
  ],
  [
    'currency',
    'currency must be a non-empty string, or be left out.',
    () => client.getWalletBalances({ currency: query(7) as never }),
  ],
])('the query whose %s is wrong is refused before a byte leaves: %s', async (option, message, call) => {
  const error = await refusalOf(call);
  expect([error.option, error.message]).toEqual([option, expect.stringContaining(message)]);
});

test('a client without the secret key says what its balance inquiry lacks', async () => {
  const keyless = createClient({
    baseUrl: 'https://service.example',
    publicKey: 'PUBLIC-KEY',
    fetch: () => expect.fail('A request was sent.'),
  });
  // @ts-expect-error: the types have no such call.
  const { option, message } = await refusalOf(() => keyless.getWalletBalances());
  expect([option, message]).toEqual([
    'secretKey',
    'getWalletBalances() needs the secret key: pass secretKey to createClient().',
  ]);
});

test('a list that was not awaited is named as a promise', async () => {
  const rows = Promise.resolve([]) as unknown as PayoutBank[];
  const banks = await refusalOf(() => eligibleBanks(rows));
  expect(banks.message).toBe(
    'eligibleBanks(): banks must be the list of listPayoutBanks(). It is a promise: await it.',
  );
});

test('control: every known name is accepted, and may be undefined', async () => {
  expect(eligibleProviders([provider], PAYMENT).eligible).toEqual([provider]);
  expect(eligibleProviders([provider], { ...PAYMENT, account: undefined }).eligible).toEqual([provider]);
  const { client: real } = await serve(success({ merchant_wallets: [wallet] }));
  for (const signal of [undefined, new AbortController().signal, AbortSignal.timeout(60_000)]) {
    expect(await real.getWalletBalances({}, { signal })).toHaveLength(1);
  }
});
