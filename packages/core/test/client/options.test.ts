import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { ClientOptions, PayoutBankQuery } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { eligibleBanks } from '../../src/client/selection/eligible-banks.ts';
import { eligibleProviders } from '../../src/client/selection/eligible-providers.ts';
import { ConfigurationError } from '../../src/errors.ts';
import {
  BOOLEAN,
  checkOptions,
  DURATION,
  FUNCTION,
  LIST,
  REQUIRED,
  STRING,
} from '../../src/options/options.ts';
import { clientWith, failureOf } from './local-service.ts';
import { provider, publicKey, secretKey } from './wire-samples.ts';

// Options, queries and payments are checked before a byte leaves.

const baseUrl = 'https://service.example';
const make = (options: object) => createClient({ baseUrl, publicKey, ...options } as ClientOptions);
const client = clientWith(() => expect.fail('A request was sent.'));

async function refusalOf(run: () => unknown): Promise<ConfigurationError> {
  const error = await failureOf((async () => run())());
  if (error instanceof ConfigurationError) return error;
  throw new Error('It is not a ConfigurationError.', { cause: error });
}

// Impossible keys are refused by the same check as for signing keys (threat A19); this refuses what no header can carry.
const unfit = [undefined, null, '', 'undefined', '<PUBLIC_KEY>', '"pk"', 42, ['pk'], {}];
const unsendable = ['pk live', 'pk\r\nx-injected: 1', 'pk\x7f', 'ключ', 'p\u00adk', 'pk\ud800'];
test.each([...unfit, ...unsendable])('the key %j of a client is refused, and not shown', async (value) => {
  for (const option of ['publicKey', 'secretKey']) {
    const error = await refusalOf(() => make({ [option]: value }));
    expect(error).toMatchObject({ option, message: expect.stringContaining(option) });
    if (typeof value === 'string' && /pk|ключ/.test(value))
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(value);
  }
});

test('a secret key equal to the public key is refused', async () => {
  const { option, message } = await refusalOf(() => make({ secretKey: publicKey }));
  expect(option).toBe('secretKey');
  expect(message).not.toContain(publicKey);
});

// Without quotation marks, and so without "${", "{{" and "<…>", which are placeholders.
const printable = String.fromCharCode(...Array.from({ length: 0x7e - 0x20 }, (_, at) => 0x21 + at));
const secure = [
  ...['https://service.example/', 'https://service.example:8443/pay/v2', 'HTTPS://Service.Example'],
  ...['http://localhost:4010', 'http://127.0.0.1:4010', 'http://127.9.9.9', 'http://[::1]:4010'],
];
const named = ['sandbox', 'SANDBOX', 'sandbox:4010', ['other', 'sandbox']];
const sandbox = { baseUrl: 'http://sandbox:4010' };
const all: Required<ClientOptions> = {
  ...{ baseUrl, publicKey, secretKey, timeoutMs: 1, maxAttempts: 1, strict: true, timing: {} },
  ...{ onDeviation: () => {}, onResponse: () => {}, fetch: globalThis.fetch },
  ...{ cache: { ttlMs: 1, staleIfErrorMs: 0 }, allowInsecureHost: 'sandbox', allowUnverifiedTls: true },
};
test.each<[what: string, ...options: object[]]>([
  [
    'every printable ASCII character but quotation marks in a key',
    { publicKey: printable.replace(/["'`]/g, '') },
  ],
  ['a baseUrl', ...[...secure, new URL(baseUrl)].map((value) => ({ baseUrl: value }))],
  [
    'http:// for the host that allowInsecureHost names',
    ...named.map((allowInsecureHost) => ({ ...sandbox, allowInsecureHost })),
  ],
  ['every documented option', all],
])('createClient() accepts %s: %j', (_, ...options) => {
  for (const given of options) expect(() => make(given)).not.toThrow();
});

test.each([
  ...[undefined, null, '', 'undefined', 42, ['https://service.example'], new URL('ftp://service.example')],
  ...['service.example', '/data', 'ftp://service.example', 'https:/service.example'],
  ...['http://service.example', 'http://127.0.0.1.service.example', 'http://localhost.service.example'],
  ...['http://10.0.0.7', 'http://0.0.0.0', 'https://', 'https://exa mple', 'https://a.example\\pay'],
  ...['https://user:hunter2@service.example', 'https://@service.example', 'https://user@service.example'],
  ...['https://service.example?x=1', 'https://service.example/?', 'https://service.example/#top'],
  ...['https://service.example\n', ' https://service.example', 'https://service.example\\@other.example'],
])('the baseUrl %s is refused', async (value) => {
  const error = await refusalOf(() => make({ baseUrl: value }));
  expect(error.option).toBe('baseUrl');
  expect(inspect(error)).not.toContain('hunter2');
});

test.each(['sandbox', 'sandbox:4011', 'box', 'http.sandbox', []])(
  'allowInsecureHost %j allows no other host',
  async (allowInsecureHost) => {
    const given = { baseUrl: 'http://sandbox.example:4010', allowInsecureHost };
    const { option, message } = await refusalOf(() => make(given));
    expect([option, message]).toEqual(['baseUrl', expect.stringMatching(/allowInsecureHost.*read the keys/)]);
  },
);

test.each<[option: string, ...invalid: unknown[]]>([
  ['timeoutMs', 0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5000'],
  ['maxAttempts', 0, 1.5, '3'],
  ['fetch', 'fetch'],
  ['onResponse', {}],
  ['allowUnverifiedTls', 'false'],
  ['cache', true],
  ['strict', 'yes'],
  ['onDeviation', 'log'],
  ['allowInsecureHost', '', 42, ['sandbox', 'http://x']],
  ['cache.ttlMs', {}, { ttlMs: 0 }],
  ['cache.staleIfErrorMs', { ttlMs: 1000, staleIfErrorMs: -1 }],
  ['ttl', { ttlMs: 1, ttl: 1 }],
])('createClient() refuses %s with each of the values %j', async (option, ...invalid) => {
  const name = /^cache\.|^ttl$/.test(option) ? 'cache' : option;
  for (const value of invalid)
    expect((await refusalOf(() => make({ [name]: value }))).option, String(value)).toBe(option);
});

test.each([
  ['timeoutMS', 'Did you mean "timeoutMs"?'],
  ['__proto__', 'Known options: baseUrl, publicKey'],
])('the unknown option %s is refused: %s', async (typo, advice) => {
  const { option, message } = await refusalOf(() => make({ [typo]: 1 }));
  expect(option).toBe(typo);
  expect(message).toContain(`createClient() does not know the option "${typo}". ${advice}`);
});

const PAYMENT = { account: '256772000001', amount: 500, currency: 'UGX', transaction_type: 'COLLECTION' };
/** Every function of the client that takes an object, and the names that it knows. */
test.each<[call: string, known: string[], run: (options: object) => unknown]>([
  ['eligibleProviders()', Object.keys(PAYMENT), (payment) => eligibleProviders([provider], payment)],
  ['listPaymentProviders()', ['currency', 'transaction_type'], (query) => client.listPaymentProviders(query)],
  ['listPayoutBanks()', ['provider_code'], (query) => client.listPayoutBanks(query as PayoutBankQuery)],
  ['getWalletBalances()', ['currency'], (query) => client.getWalletBalances(query)],
  ['listPaymentProviders()', ['signal'], (options) => client.listPaymentProviders({}, options)],
  ['listPayoutBanks()', ['signal'], (options) => client.listPayoutBanks({ provider_code: 'x' }, options)],
  ['getWalletBalances()', ['signal'], (options) => client.getWalletBalances({}, options)],
])('%s refuses other names than %j, whatever their values, and suggests the similar one', async (...row) => {
  const [call, known, run] = row;
  const { option, message } = await refusalOf(() => run({ constructor: undefined }));
  expect([option, message]).toEqual(['constructor', expect.stringContaining(`${call} does not know`)]);
  for (const name of known)
    for (const near of [name.toUpperCase(), `${name}s`, name.slice(0, -1)]) {
      const { message } = await refusalOf(() => run({ [near]: undefined }));
      expect(message).toBe(`${call} does not know the option "${near}". Did you mean "${name}"?`);
    }
});

const any = (given: unknown): never => given as never;
const keyless = createClient({ baseUrl, publicKey, fetch: () => expect.fail('A request was sent.') });
const CODE = 'provider_code must be a non-empty string.';
test.each<[option: string, message: string, call: () => unknown]>([
  ...[{ timeoutMs: 5 }, { signal: new AbortController() }, { signal: 'abort' }, { fresh: 'yes' }].map(
    (options): [string, string, () => unknown] => [
      ...([Object.keys(options).join(), ''] as const),
      () => client.listPaymentProviders({}, any(options)),
    ],
  ),
  ['options', '', () => client.listPaymentProviders({}, any(null))],
  ['query', 'query must be an object. It is a string.', () => client.listPayoutBanks(any('mtn'))],
  ['query', 'query must be an object. It is null.', () => client.listPayoutBanks(any(null))],
  ['provider_code', `${CODE} It is undefined.`, () => client.listPayoutBanks(any({}))],
  [
    'provider_code',
    `${CODE} It is a promise: await it.`,
    () => client.listPayoutBanks(any({ provider_code: Promise.resolve('') })),
  ],
  ['provider_code', CODE, () => client.listPayoutBanks({ provider_code: '' })],
  ['provider_code', CODE, () => client.listPayoutBanks({ provider_code: '\ud800' })],
  [
    ...(['currency', 'currency must be a non-empty string, or be left out.'] as const),
    () => client.getWalletBalances({ currency: any(7) }),
  ],
  [
    ...([
      'secretKey',
      'getWalletBalances() needs the secret key: pass secretKey to createClient().',
    ] as const),
    // @ts-expect-error: the types have no such call.
    () => keyless.getWalletBalances(),
  ],
  [
    ...(['banks', 'banks must be the list of listPayoutBanks(). It is a promise: await it.'] as const),
    () => eligibleBanks(any(Promise.resolve([]))),
  ],
  ['options', '', () => Reflect.apply(createClient, undefined, [])],
])('a wrong %s is refused before a byte leaves: %s', async (option, says, call) => {
  const error = await refusalOf(call);
  expect([error.option, error.message]).toEqual([option, expect.stringContaining(says)]);
});

const never = () => false;
const OTHER: Readonly<Record<string, unknown>> = {
  ...{ 'a string': 'hunter2', 'a number': 4711, 'a boolean': true, 'an Array': ['hunter2'], null: null },
  ...{
    'an Object': { hunter2: 1 },
    'a Date': new Date(4711),
    'a function': () => 'hunter2',
    'a Map': new Map(),
  },
  ...{ 'a promise: await it': Promise.resolve('hunter2'), 'a bigint': 4711n },
};
/** By a shape of the packages, the kinds of its valid values. */
test.each<[shape: string, ...kinds: string[]]>([
  [FUNCTION[1], 'a function'],
  [BOOLEAN[1], 'a boolean'],
  [LIST[1], 'an Array'],
  [STRING[1], 'a string'],
  [DURATION[1], 'a number'],
  ['a number of milliseconds, 0 or more', 'a number'],
  ['a whole number from 1 to 1000', 'a number'],
  ['an HTTP status from 400 to 599', 'a number'],
  ['a list of statuses from 400 to 499', 'an Array'],
  ['a valid Date', 'a Date'],
  [
    "a map from a status to the statuses that may follow it, such as { COMPLETED: ['REVERSED'] }",
    'an Object',
  ],
  ['{ secondsBefore, secondsAfter }: the protocol does not show it', 'an Object'],
  ['true, or the { currency, amount } that it replaces', 'a boolean', 'an Object'],
  ['a host such as "sandbox", or a list of hosts', 'a string', 'an Array'],
  ['one of pending, retrying, settled', 'a string'],
  ["'full' or 'claims'", 'a string'],
  ['a currency code, such as "UGX"', 'a string'],
  ['64 lower-case hexadecimal digits', 'a string'],
  ['1 to 200 characters that say who acts', 'a string'],
])(
  'an option that must be %s is named as what it is, unless it is %s, and is never shown',
  async (shape, ...kinds) => {
    for (const [kind, option] of Object.entries(OTHER)) {
      const { message } = await refusalOf(() => checkOptions('f()', { option }, { option: [never, shape] }));
      const named = kinds.includes(kind) ? '' : ` It is ${kind}.`;
      expect(message).toBe(`option must be ${shape}, or be left out.${named}`);
      expect(message).not.toMatch(/hunter2|4711/);
    }
    const rules = { option: [never, shape, REQUIRED] } as const;
    const { message } = await refusalOf(() => checkOptions('f()', { option: undefined }, rules));
    expect(message).toBe(`option must be ${shape}. It is undefined.`);
  },
);
