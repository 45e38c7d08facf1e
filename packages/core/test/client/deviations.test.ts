import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { InvalidResponseError } from '../../src/errors.ts';
import {
  type Answer,
  balances,
  banksOf,
  failureOf,
  failureWith,
  reply,
  serve,
  success,
} from './local-service.ts';
import { bank, provider, wallet } from './wire-samples.ts';

const LISTS = {
  payment_providers: 'listPaymentProviders',
  payout_banks: 'listPayoutBanks',
} as const;

/** The rows that a client returns for a list, and the deviations that it reports. */
async function read(name: keyof typeof LISTS, rows: readonly unknown[] | Answer, strict = false) {
  const answer = typeof rows === 'function' ? rows : success({ [name]: rows });
  const { client, deviations } = await serve(answer, { strict });
  const found: unknown = await (name === 'payout_banks'
    ? client.listPayoutBanks({ provider_code: 'x' })
    : client.listPaymentProviders());
  return { found, deviations };
}

const left = (name: keyof typeof LISTS, path: string, received: string) => ({
  operation: LISTS[name],
  path: `data.${name}${path}`,
  received,
  isLeftOut: true,
});

function without(row: object, field: string): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== field));
}

type Row = [list: keyof typeof LISTS, path: string, odd: unknown, received: string];
const oddProvider = (path: string, value: unknown, received: string): Row => {
  return ['payment_providers', `.${path}`, { ...provider, [path.replace('[1]', '')]: value }, received];
};
const lacking = (list: keyof typeof LISTS, row: object): Row[] =>
  Object.keys(row)
    .filter((field) => field !== 'option_prefixes')
    .map((field) => [list, `.${field}`, without(row, field), 'missing']);
test.each<Row>([
  oddProvider('min_amount', '500', 'string'),
  oddProvider('max_amount', null, 'null'),
  oddProvider('is_active', 'true', 'string'),
  oddProvider('provider_name', { en: 'SECRET-VALUE' }, 'object'),
  oddProvider('option_prefixes', '25677', 'string'),
  oddProvider('option_prefixes', {}, 'object'),
  oddProvider('option_prefixes[1]', ['25677', 25678], 'number'),
  ...lacking('payment_providers', provider),
  ...lacking('payout_banks', bank),
  ['payout_banks', '', null, 'null'],
  ['payout_banks', '', [], 'array'],
  ['payout_banks', '', 'SECRET-VALUE', 'string'],
])(
  'threat A40: of %s, a row with an odd value at "%s" (%j) is reported as %s',
  async (list, path, odd, received) => {
    const good = list === 'payout_banks' ? bank : provider;
    const { found, deviations } = await read(list, [odd, good]);
    expect(found).toEqual([good]);
    expect(deviations).toEqual([left(list, `[0]${path}`, received)]);
  },
);

test.each([
  ['missing', without(provider, 'option_prefixes')],
  ['null', { ...provider, option_prefixes: null }],
])('option_prefixes that are %s read as an empty list', async (_name, row) => {
  const { found, deviations } = await read('payment_providers', [row]);
  expect(found).toEqual([{ ...provider, option_prefixes: [] }]);
  expect(deviations).toEqual([]);
});

test.each([
  ['.min_amount: expected number, received string', { ...provider, min_amount: '500' }],
  ['.option_prefixes: expected array, received null', { ...provider, option_prefixes: null }],
  ['.option_prefixes: expected array, received missing', without(provider, 'option_prefixes')],
])('strict refuses the whole response: the error says %s', async (what, row) => {
  const { client, deviations } = await serve(success({ payment_providers: [row, provider] }), {
    strict: true,
  });
  const error = await failureOf(client.listPaymentProviders());
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(String(error)).toContain(`data.payment_providers[0]${what}`);
  expect(deviations).toEqual([]);
});

const warn = vi.spyOn(console, 'warn');
beforeEach(() => {
  warn.mockReset().mockImplementation(() => {});
});
afterAll(() => {
  warn.mockRestore();
});

test('a second row with the same field is not reported again, and another field or client is', async () => {
  const odd = { ...bank, bank_name: null };
  const answer = success({ payout_banks: [odd, odd, { ...bank, is_active: 'SECRET-VALUE' }] });
  const warnings = [
    'listPayoutBanks: data.payout_banks[0].bank_name deviates from the contract (received null)',
    'listPayoutBanks: data.payout_banks[2].is_active deviates from the contract (received string)',
  ].map((warning) => [expect.stringContaining(warning)]);
  const { client } = await serve(answer, { onDeviation: undefined });
  for (let call = 0; call < 3; call++) expect(await banksOf(client)).toEqual([]);
  expect(warn.mock.calls).toEqual(warnings);
  await banksOf((await serve(answer, { onDeviation: undefined })).client);
  expect(warn.mock.calls).toEqual([...warnings, ...warnings]);
  expect(JSON.stringify(warn.mock.calls)).not.toContain('SECRET-VALUE');
});

test('for balances that do not add up, the warning says that the wallet was kept, and holds no balance', async () => {
  const odd = { ...wallet, actual_balance: 7_654_321 };
  const { client } = await serve(success({ merchant_wallets: [odd, odd] }), { onDeviation: undefined });
  for (let call = 0; call < 2; call++) expect(await client.getWalletBalances()).toHaveLength(2);
  expect(warn.mock.calls).toEqual([
    [
      'getWalletBalances: data.merchant_wallets[0].actual_balance deviates from the contract (received another number ' +
        'than available_balance + uncleared_balance + reserve_balance), and the wallet was kept. Compare it with the ' +
        'merchant dashboard before you rely on it. This client does not repeat the warning for this field.',
    ],
  ]);
});

const list = (name: string, rows: string): Answer =>
  reply(200, `{"code":200,"status":"success","message":"","data":{"${name}":[${rows}]}}`);
const repeated = (row: string, count: number): string => `${`${row},`.repeat(count - 1)}${row}`;
const fields = (row: object): string => JSON.stringify(row).slice(1, -1);
const minimal = '{"bank_code":"B","bank_name":"N","is_active":true}';
// The envelope and this row have 11 values in addition to those of the unknown field.
const values = (count: number): string =>
  `{${fields(bank)},"extra":[${repeated('0', count - 11)}]}${' '.repeat(75_000)}`;
test.each([
  ['10,000 rows', repeated(minimal, 10_000), 10_000],
  ['75,000 values', values(75_000), 1],
])('threat A33: a list of %s is read', async (_, rows, length) => {
  expect((await read('payout_banks', list('payout_banks', rows))).found).toHaveLength(length);
});

const nothingBut = (open: string, close: string): Answer => {
  const depth = Math.floor(2 ** 20 / (open.length + 2));
  return reply(200, `${open.repeat(depth)}1${close.repeat(depth)}`);
};
const deepWallet = `{${fields(wallet)},"extra":${'{"a":'.repeat(70_000)}1${'}'.repeat(70_000)}}`;
test.each<[what: string, Answer, message: string, call?: typeof balances]>([
  [
    '10,001 rows',
    list('payout_banks', repeated(minimal, 10_001)),
    'data.payout_banks: expected at most 10000 rows, received 10001',
    banksOf,
  ],
  ['75,001 values', list('payout_banks', values(75_001)), 'at most 75000 values', banksOf],
  ['346,000 empty objects', list('payment_providers', repeated('{}', 346_000)), 'at most 75000 values'],
  ['braces', nothingBut('{"a":', '}'), 'the response'],
  [
    'a deep wallet',
    list('merchant_wallets', deepWallet),
    'data.merchant_wallets[0]: expected at most 64 levels of nesting',
    balances,
  ],
])('threat A33: a response of %s is refused', async (_, answer, message, call) => {
  const error = await failureWith(answer, {}, call);
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(String(error)).toContain(message);
});

test('threat A33: ten thousand deviating rows make 100 reports', async () => {
  const { found, deviations } = await read(
    'payment_providers',
    list('payment_providers', repeated('{}', 10_000)),
  );
  expect([found, deviations.length]).toEqual([[], 100]);
});

test.each([64, 65, 70_000])('an unknown field with %i levels is read up to 64', async (depth) => {
  const extra = `${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`;
  const answer = list('payout_banks', `{${fields(bank)},"extra":${extra}}`);
  const { found, deviations } = await read('payout_banks', answer);
  expect(found).toHaveLength(depth <= 64 ? 1 : 0);
  expect(deviations).toEqual(depth <= 64 ? [] : [left('payout_banks', '[0]', 'deeper nesting')]);
});
