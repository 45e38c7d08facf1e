import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { InvalidResponseError } from '../../src/errors.ts';
import {
  type Answer,
  attempt,
  balances,
  banksOf,
  providersOf,
  reply,
  serve,
  success,
} from './local-service.ts';
import { bank, provider, wallet } from './wire-samples.ts';

const CALLS = {
  payment_providers: ['listPaymentProviders', providersOf],
  payout_banks: ['listPayoutBanks', banksOf],
  merchant_wallets: ['getWalletBalances', balances],
} as const;
type List = keyof typeof CALLS;

/** What comes of listing these rows. */
const read = (list: List, rows: unknown[] | Answer, options = {}) =>
  attempt(typeof rows === 'function' ? rows : success({ [list]: rows }), options, CALLS[list][1]);

const left = (list: List, path: string, received: string) => ({
  ...{ operation: CALLS[list][0], path: `data.${list}${path}`, received, isLeftOut: true },
});

function without(row: object, field: string): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== field));
}

type Row = [list: List, path: string, odd: unknown, received: string];
const oddProvider = (path: string, value: unknown, received: string): Row => {
  return ['payment_providers', `.${path}`, { ...provider, [path.replace('[1]', '')]: value }, received];
};
const lacking = (list: List, row: object): Row[] =>
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
  'threat A40: of %s, a row with an odd value at "%s" (%j) is left out, and reported as %s',
  async (...row) => {
    const [list, path, odd, received] = row;
    const good = list === 'payout_banks' ? bank : provider;
    const { found, deviations } = await read(list, [odd, good]);
    expect(found).toEqual([good]);
    expect(deviations).toEqual([left(list, `[0]${path}`, received)]);
  },
);

const noPrefixes = [without(provider, 'option_prefixes'), { ...provider, option_prefixes: null }];
test.each(noPrefixes)(
  'option_prefixes that are missing or null read as an empty list: row %#',
  async (row) => {
    const { found, deviations } = await read('payment_providers', [row]);
    expect(found).toEqual([{ ...provider, option_prefixes: [] }]);
    expect(deviations).toEqual([]);
  },
);

test.each([
  ['.min_amount: expected number, received string', { ...provider, min_amount: '500' }],
  ['.option_prefixes: expected array, received missing', noPrefixes[0]],
  ['.option_prefixes: expected array, received null', noPrefixes[1]],
])('strict refuses the whole response: the error says %s', async (what, row) => {
  const { error, deviations } = await read('payment_providers', [row, provider], { strict: true });
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

test('without onDeviation, the console gets one warning per operation, field and client', async () => {
  const odd = { ...bank, bank_name: null };
  const answer = success({ payout_banks: [odd, odd, { ...bank, is_active: 'SECRET-VALUE' }] });
  const warnings = [
    'listPayoutBanks: data.payout_banks[0].bank_name deviates from the contract (received null)',
    'listPayoutBanks: data.payout_banks[2].is_active deviates from the contract (received string)',
  ].map((warning) => [expect.stringContaining(warning)]);
  const { client } = await serve(answer, { onDeviation: undefined });
  for (let call = 0; call < 3; call++) expect(await banksOf(client)).toEqual([]);
  expect(warn.mock.calls).toEqual(warnings);
  await read('payout_banks', answer, { onDeviation: undefined });
  expect(warn.mock.calls).toEqual([...warnings, ...warnings]);
  expect(JSON.stringify(warn.mock.calls)).not.toContain('SECRET-VALUE');
});

test('for balances that do not add up, the warning says that the wallet was kept, and holds no balance', async () => {
  const odd = { ...wallet, actual_balance: 7_654_321 };
  const { client } = await serve(success({ merchant_wallets: [odd, odd] }), { onDeviation: undefined });
  for (let call = 0; call < 2; call++) expect(await client.getWalletBalances()).toHaveLength(2);
  const warning =
    'getWalletBalances: data.merchant_wallets[0].actual_balance deviates from the contract (received a number other ' +
    'than available_balance + uncleared_balance + reserve_balance), and the wallet was kept. Compare it with the ' +
    'merchant dashboard before you rely on it. This client does not repeat the warning for this field.';
  expect(warn.mock.calls).toEqual([[warning]]);
});

// One hostile response costs little.
const listed = (list: List, rows: string): Answer =>
  reply(200, `{"code":200,"status":"success","message":"","data":{"${list}":[${rows}]}}`);
const repeated = (row: string, count: number): string => `${`${row},`.repeat(count - 1)}${row}`;
const withExtra = (row: object, extra: string): string =>
  `{${JSON.stringify(row).slice(1, -1)},"extra":${extra}}`;
const minimal = '{"bank_code":"B","bank_name":"N","is_active":true}';
// The envelope and this row have 11 values in addition to those of the unknown field.
const values = (count: number): string =>
  `${withExtra(bank, `[${repeated('0', count - 11)}]`)}${' '.repeat(75_000)}`;
const braces = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const brackets = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const TOO_MANY = 'at most 75000 values';
const TOO_DEEP = 'data.merchant_wallets[0]: expected at most 64 levels of nesting';
const TOO_LONG = 'data.payout_banks: expected at most 10000 rows, received 10001';
const REPORTS = { found: { length: 0 }, deviations: { length: 100 } };
const DEEPER = [left('payout_banks', '[0]', 'deeper nesting')];
test.each<[what: string, List, rows: string | Answer, outcome: object | string]>([
  ['10,000 rows is read', 'payout_banks', repeated(minimal, 10_000), { found: { length: 10_000 } }],
  ['75,000 values is read', 'payout_banks', values(75_000), { found: { length: 1 } }],
  ['10,001 rows is refused', 'payout_banks', repeated(minimal, 10_001), TOO_LONG],
  ['75,001 values is refused', 'payout_banks', values(75_001), TOO_MANY],
  ['346,000 empty objects is refused', 'payment_providers', repeated('{}', 346_000), TOO_MANY],
  ['braces is refused', 'payment_providers', reply(200, braces(149_000)), 'the response'],
  ['a deep wallet is refused', 'merchant_wallets', withExtra(wallet, braces(70_000)), TOO_DEEP],
  ...[63, 64, 69_999].map((depth): [string, List, string, object] => [
    ...([`an unknown field with ${depth + 1} levels is read up to 64`, 'payout_banks'] as const),
    withExtra(bank, brackets(depth)),
    depth === 63 ? { found: { length: 1 }, deviations: [] } : { found: { length: 0 }, deviations: DEEPER },
  ]),
  ['10,000 deviating rows makes 100 reports', 'payment_providers', repeated('{}', 10_000), REPORTS],
])('threat A33: a response of %s', async (_, list, rows, outcome) => {
  const { found, error, deviations } = await read(list, typeof rows === 'string' ? listed(list, rows) : rows);
  if (typeof outcome === 'object') return expect({ found, deviations }).toMatchObject(outcome);
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(String(error)).toContain(outcome);
});
