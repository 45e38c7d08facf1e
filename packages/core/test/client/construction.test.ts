import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { ClientOptions } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { ConfigurationError } from '../../src/errors.ts';
import { publicKey, secretKey } from './wire-samples.ts';

const baseUrl = 'https://service.example';

function refusal(options: object): ConfigurationError {
  try {
    createClient({ baseUrl, publicKey, ...options } as ClientOptions);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('createClient() accepted these options.');
}

// Impossible keys are refused by the same check as for signing keys (threat A19); this refuses what no header can carry.
const unfit = [undefined, null, '', 'undefined', '<PUBLIC_KEY>', '"pk"', 42, ['pk'], {}];
const unsendable = ['pk live', 'pk\r\nx-injected: 1', 'pk\x7f', 'ключ', 'p\u00adk', 'pk\ud800'];

test.each([...unfit, ...unsendable])('the key %j is refused, and not shown', (value) => {
  for (const option of ['publicKey', 'secretKey']) {
    const error = refusal({ [option]: value });
    expect(error).toMatchObject({ option, message: expect.stringContaining(option) });
    if (typeof value === 'string' && /pk|ключ/.test(value))
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(value);
  }
});

test('a secret key equal to the public key is refused', () => {
  const error = refusal({ secretKey: publicKey });
  expect(error.option).toBe('secretKey');
  expect(error.message).not.toContain(publicKey);
});

test('a key may contain every printable ASCII character but quotation marks', () => {
  const all = String.fromCharCode(...Array.from({ length: 0x7e - 0x20 }, (_, index) => 0x21 + index));
  // Without "${", "{{" and "<…>", which are placeholders.
  const key = all.replace(/["'`]/g, '');
  expect(() => createClient({ baseUrl, publicKey: key })).not.toThrow();
});

test.each([
  ...['https://service.example/', 'https://service.example:8443/pay/v2', 'HTTPS://Service.Example'],
  ...['http://localhost:4010', 'http://127.0.0.1:4010', 'http://127.9.9.9', 'http://[::1]:4010'],
])('the baseUrl %s is accepted', (value) => {
  expect(() => createClient({ baseUrl: value, publicKey })).not.toThrow();
});

test.each([
  ...[undefined, null, '', 'undefined', 42, new URL(baseUrl)],
  ...['service.example', '/data', 'ftp://service.example', 'https:/service.example'],
  ...['http://service.example', 'http://127.0.0.1.service.example', 'http://localhost.service.example'],
  ...['http://10.0.0.7', 'http://0.0.0.0', 'https://', 'https://exa mple', 'https://a.example\\pay'],
  ...['https://user:hunter2@service.example', 'https://@service.example', 'https://user@service.example'],
  ...['https://service.example?x=1', 'https://service.example/?', 'https://service.example/#top'],
  ...['https://service.example\n', ' https://service.example', 'https://service.example\\@other.example'],
])('the baseUrl %s is refused', (value) => {
  const error = refusal({ baseUrl: value });
  expect(error.option).toBe('baseUrl');
  expect(inspect(error)).not.toContain('hunter2');
});

const sandbox = 'http://sandbox:4010';
test.each(['sandbox', 'SANDBOX', 'sandbox:4010', ['other', 'sandbox']])(
  'allowInsecureHost %j allows http:// for the host sandbox',
  (allowInsecureHost) => {
    expect(() => createClient({ baseUrl: sandbox, publicKey, allowInsecureHost })).not.toThrow();
  },
);

test.each(['sandbox', 'sandbox:4011', 'box', 'http.sandbox', []])(
  'allowInsecureHost %j allows no other host',
  (allowInsecureHost) => {
    const { option, message } = refusal({ baseUrl: 'http://sandbox.example:4010', allowInsecureHost });
    expect(option).toBe('baseUrl');
    expect(message).toMatch(/allowInsecureHost.*read the keys/);
  },
);

test.each<[option: string, invalid: unknown[]]>([
  ['timeoutMs', [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5000']],
  ['maxAttempts', [0, 1.5, '3']],
  ['fetch', ['fetch']],
  ['onResponse', [{}]],
  ['allowUnverifiedTls', ['false']],
  ['cache', [true]],
  ['strict', ['yes']],
  ['onDeviation', ['log']],
  ['allowInsecureHost', ['', 42, ['sandbox', 'http://x']]],
])('%s is refused with each of the values %j', (option, invalid) => {
  for (const value of invalid) expect(refusal({ [option]: value }).option, String(value)).toBe(option);
});

test.each([
  ['cache.ttlMs', {}],
  ['cache.ttlMs', { ttlMs: 0 }],
  ['cache.staleIfErrorMs', { ttlMs: 1000, staleIfErrorMs: -1 }],
  ['ttl', { ttlMs: 1, ttl: 1 }],
])('%s is refused in the cache options %j', (option, cache) => {
  expect(refusal({ cache }).option).toBe(option);
});

test('a call without options throws a ConfigurationError', () => {
  expect(() => Reflect.apply(createClient, undefined, [])).toThrow(ConfigurationError);
});

test.each([
  ['timeoutMS', 'Did you mean "timeoutMs"?'],
  ['__proto__', 'Known options: baseUrl, publicKey'],
])('the unknown option %s is refused: %s', (typo, advice) => {
  const { option, message } = refusal({ [typo]: 1 });
  expect(option).toBe(typo);
  expect(message).toContain(`createClient() does not know the option "${typo}". ${advice}`);
});

test('every documented option is known', () => {
  const all: Required<ClientOptions> = {
    ...{ baseUrl, publicKey, secretKey, timeoutMs: 1, maxAttempts: 1, strict: true, timing: {} },
    ...{ onDeviation: () => {}, onResponse: () => {}, fetch: globalThis.fetch },
    ...{ cache: { ttlMs: 1, staleIfErrorMs: 0 }, allowInsecureHost: 'sandbox', allowUnverifiedTls: true },
  };
  expect(() => createClient(all)).not.toThrow();
});
