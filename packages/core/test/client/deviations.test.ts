import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Client, ClientOptions, Deviation } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { InvalidResponseError } from '../../src/errors.ts';
import { failureOf } from './failure-of.ts';
import { type Answer, reply, startService, success } from './local-service.ts';
import { bank, provider, publicKey, secretKey, wallet } from './wire-samples.ts';

const code = { provider_code: 'x' };

async function watchedClient(
  answer: Answer,
  options: Partial<ClientOptions> = {},
): Promise<{ client: Client; deviations: Deviation[] }> {
  const { baseUrl } = await startService(answer);
  const deviations: Deviation[] = [];
  const onDeviation = (deviation: Deviation): void => void deviations.push(deviation);
  return { client: createClient({ baseUrl, publicKey, onDeviation, ...options }), deviations };
}

function without(row: object, field: string): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== field));
}

describe('a provider or bank that deviates is left out and reported (threat A40)', () => {
  test('one odd bank among thirty costs that bank only', async () => {
    const banks = Array.from({ length: 30 }, (_, index) => ({ ...bank, bank_code: `B${index}` }));
    const sent = banks.map((one, index) => (index === 3 ? { ...one, bank_name: null } : one));
    const { client, deviations } = await watchedClient(success({ payout_banks: sent }));
    expect(await client.listPayoutBanks(code)).toEqual(banks.filter((_, index) => index !== 3));
    expect(deviations).toEqual([
      {
        operation: 'listPayoutBanks',
        path: 'data.payout_banks[3].bank_name',
        received: 'null',
        isLeftOut: true,
      },
    ]);
  });

  test.each([
    ['min_amount', '500', 'string'],
    ['max_amount', null, 'null'],
    ['is_active', 'true', 'string'],
    ['is_active', 1, 'number'],
    ['provider_code', 7, 'number'],
    ['provider_name', { en: 'SECRET-VALUE' }, 'object'],
    ['option_prefixes', '25677', 'string'],
    ['option_prefixes', {}, 'object'],
    ['option_prefixes[1]', ['25677', 25678], 'number'],
  ])('a provider whose %s deviates (%j) is reported as %s', async (path, value, received) => {
    const odd = { ...provider, [path.replace('[1]', '')]: value };
    const { client, deviations } = await watchedClient(success({ payment_providers: [odd, provider] }));
    expect(await client.listPaymentProviders()).toEqual([provider]);
    expect(deviations).toEqual([
      {
        operation: 'listPaymentProviders',
        path: `data.payment_providers[0].${path}`,
        received,
        isLeftOut: true,
      },
    ]);
  });

  test.each(Object.keys(provider).filter((field) => field !== 'option_prefixes'))(
    'a provider without %s is left out',
    async (field) => {
      const sent = [provider, without(provider, field)];
      const { client, deviations } = await watchedClient(success({ payment_providers: sent }));
      expect(await client.listPaymentProviders()).toEqual([provider]);
      expect(deviations).toMatchObject([{ path: `data.payment_providers[1].${field}`, received: 'missing' }]);
    },
  );

  test.each(Object.keys(bank))('a bank without %s is left out', async (field) => {
    const { client, deviations } = await watchedClient(success({ payout_banks: [without(bank, field)] }));
    expect(await client.listPayoutBanks(code)).toEqual([]);
    expect(deviations).toMatchObject([{ path: `data.payout_banks[0].${field}`, received: 'missing' }]);
  });

  test.each([
    [null, 'null'],
    [[], 'array'],
    ['SECRET-VALUE', 'string'],
  ])('a row that is %j is left out', async (row, received) => {
    const { client, deviations } = await watchedClient(success({ payout_banks: [row, bank] }));
    expect(await client.listPayoutBanks(code)).toEqual([bank]);
    expect(deviations).toEqual([
      { operation: 'listPayoutBanks', path: 'data.payout_banks[0]', received, isLeftOut: true },
    ]);
  });

  test.each([
    ['missing', without(provider, 'option_prefixes')],
    ['null', { ...provider, option_prefixes: null }],
  ])('option_prefixes that are %s read as an empty list', async (_name, row) => {
    const { client, deviations } = await watchedClient(success({ payment_providers: [row] }));
    expect(await client.listPaymentProviders()).toEqual([{ ...provider, option_prefixes: [] }]);
    expect(deviations).toEqual([]);
  });

  test('an onDeviation that throws is logged and does not fail the call', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => logged.mockRestore());
    const onDeviation = (): void => {
      throw new Error('metrics are down');
    };
    const { client } = await watchedClient(success({ payout_banks: [null, bank] }), { onDeviation });
    expect(await client.listPayoutBanks(code)).toEqual([bank]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(logged.mock.calls).toEqual([[expect.stringContaining('onDeviation'), expect.any(Error)]]);
  });
});

describe('strict refuses the whole response', () => {
  test.each([
    [
      'data.payment_providers[0].min_amount: expected number, received string',
      { ...provider, min_amount: '500' },
    ],
    [
      'data.payment_providers[0].option_prefixes: expected array, received null',
      { ...provider, option_prefixes: null },
    ],
    [
      'data.payment_providers[0].option_prefixes: expected array, received missing',
      without(provider, 'option_prefixes'),
    ],
  ])('the error says that %s', async (what, row) => {
    const { client, deviations } = await watchedClient(success({ payment_providers: [row, provider] }), {
      strict: true,
    });
    const error = await failureOf(client.listPaymentProviders());
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(String(error)).toContain(what);
    expect(deviations).toEqual([]);
  });
});

describe('without onDeviation, the console gets one warning per operation and field', () => {
  const warn = vi.spyOn(console, 'warn');
  beforeEach(() => {
    warn.mockReset().mockImplementation(() => {});
  });
  afterAll(() => {
    warn.mockRestore();
  });

  test('a second row with the same field is not reported again, and another field is', async () => {
    const odd = { ...bank, bank_name: null };
    const { baseUrl } = await startService(
      success({ payout_banks: [odd, odd, { ...bank, is_active: 'SECRET-VALUE' }] }),
    );
    const client = createClient({ baseUrl, publicKey });
    for (let call = 0; call < 3; call++) expect(await client.listPayoutBanks(code)).toEqual([]);
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining(
          'listPayoutBanks: data.payout_banks[0].bank_name deviates from the contract (received null)',
        ),
      ],
      [
        expect.stringContaining(
          'listPayoutBanks: data.payout_banks[2].is_active deviates from the contract (received string)',
        ),
      ],
    ]);
    expect(JSON.stringify(warn.mock.calls)).not.toContain('SECRET-VALUE');
  });

  test('a second client warns again', async () => {
    const { baseUrl } = await startService(success({ payout_banks: [null] }));
    await createClient({ baseUrl, publicKey }).listPayoutBanks(code);
    await createClient({ baseUrl, publicKey }).listPayoutBanks(code);
    expect(warn).toHaveBeenCalledTimes(2);
  });
});

describe('one hostile response costs little (threat A33)', () => {
  const LIMIT = 1024 * 1024;
  const list = (name: string, rows: string): Answer =>
    reply(200, `{"code":200,"status":"success","message":"","data":{"${name}":[${rows}]}}`);
  const repeated = (row: string, count: number): string => `${`${row},`.repeat(count - 1)}${row}`;
  const fields = (row: object): string => JSON.stringify(row).slice(1, -1);

  test('a list of 10,000 rows is read, and one of 10,001 rows is refused', async () => {
    const row = '{"bank_code":"B","bank_name":"N","is_active":true}';
    const full = await watchedClient(list('payout_banks', repeated(row, 10_000)));
    expect(await full.client.listPayoutBanks(code)).toHaveLength(10_000);
    const { client } = await watchedClient(list('payout_banks', repeated(row, 10_001)));
    const error = await failureOf(client.listPayoutBanks(code));
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(String(error)).toContain('data.payout_banks: expected at most 10000 rows, received 10001');
  });

  test('a response of more than 75,000 values is refused before it is parsed (threat A33)', async () => {
    const row = (count: number): string => `{${fields(bank)},"extra":[${repeated('0', count)}]}`;
    // The envelope and this row have 11 values beside those of the unknown field.
    const padding = ' '.repeat(75_000);
    const { client } = await watchedClient(list('payout_banks', row(74_989) + padding));
    expect(await client.listPayoutBanks(code)).toHaveLength(1);
    const over = await watchedClient(list('payout_banks', row(74_990) + padding));
    expect(String(await failureOf(over.client.listPayoutBanks(code)))).toContain('at most 75000 values');
  });

  test('a list of 346,000 empty objects is refused, and no row is reported', async () => {
    const { client, deviations } = await watchedClient(list('payment_providers', repeated('{}', 346_000)));
    const error = await failureOf(client.listPaymentProviders());
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(String(error)).toContain('at most 75000 values');
    expect(deviations).toEqual([]);
  });

  test('ten thousand deviating rows make 100 reports', async () => {
    const { client, deviations } = await watchedClient(list('payment_providers', repeated('{}', 10_000)));
    expect(await client.listPaymentProviders()).toEqual([]);
    expect(deviations).toHaveLength(100);
  });

  test('seventy thousand wrong prefixes are one deviation', async () => {
    const row = `{${fields(without(provider, 'option_prefixes'))},"option_prefixes":[${repeated('1', 70_000)}]}`;
    const { client, deviations } = await watchedClient(list('payment_providers', row));
    expect(await client.listPaymentProviders()).toEqual([]);
    expect(deviations).toEqual([
      {
        operation: 'listPaymentProviders',
        path: 'data.payment_providers[0].option_prefixes[0]',
        received: 'number',
        isLeftOut: true,
      },
    ]);
    const strict = await watchedClient(list('payment_providers', row), { strict: true });
    expect(await failureOf(strict.client.listPaymentProviders())).toBeInstanceOf(InvalidResponseError);
  });

  test.each([64, 65, 70_000])('an unknown field with %i levels is read up to 64', async (depth) => {
    const extra = `${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`;
    const row = `{${fields(bank)},"extra":${extra}}`;
    const { client, deviations } = await watchedClient(list('payout_banks', row));
    expect(await client.listPayoutBanks(code)).toHaveLength(depth <= 64 ? 1 : 0);
    const received = 'deeper nesting';
    const report = { operation: 'listPayoutBanks', path: 'data.payout_banks[0]', received, isLeftOut: true };
    expect(deviations).toEqual(depth <= 64 ? [] : [report]);
  });

  test('a wallet that is nested too deeply refuses the response', async () => {
    const row = `{${fields(wallet)},"extra":${'{"a":'.repeat(70_000)}1${'}'.repeat(70_000)}}`;
    const { baseUrl } = await startService(list('merchant_wallets', row));
    const client = createClient({ baseUrl, publicKey, secretKey });
    const error = await failureOf(client.getWalletBalances());
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(String(error)).toContain('data.merchant_wallets[0]: expected at most 64 levels of nesting');
  });

  test.each(['[', '{"a":'])('a body of nothing but %s throws an InvalidResponseError', async (open) => {
    const close = open === '[' ? ']' : '}';
    const depth = Math.floor(LIMIT / (open.length + 2));
    const body = `${open.repeat(depth)}1${close.repeat(depth)}`;
    const { client } = await watchedClient(reply(200, body));
    expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(InvalidResponseError);
  });

  test.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['an empty object', () => ({})],
  ])('a fetch that returns %s throws an InvalidResponseError', async (_name, fake) => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', publicKey, maxAttempts: 1 });
    const options = { baseUrl: 'http://127.0.0.1:1', publicKey, maxAttempts: 1, fetch: fake };
    const faked: Client = Reflect.apply(createClient, undefined, [options]);
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({ code: 'connection_failed' });
    expect(await failureOf(faked.listPaymentProviders())).toBeInstanceOf(InvalidResponseError);
  });
});

test('the sample rows pass unchanged', async () => {
  const { client, deviations } = await watchedClient(success({ payment_providers: [provider] }), {
    strict: true,
  });
  expect(await client.listPaymentProviders()).toEqual([provider]);
  expect(deviations).toEqual([]);
});
