import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClientOptions } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { parseBaseUrl } from '../../src/client/settings/base-url.ts';
import { ConfigurationError } from '../../src/errors.ts';
import { publicKey, secretKey } from './wire-samples.ts';

const baseUrl = 'https://service.example';

function refusal(options: object): ConfigurationError {
  try {
    createClient(options as ClientOptions);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('createClient() accepted these options.');
}

describe('keys are checked at construction', () => {
  const unfit = [
    undefined,
    null,
    '',
    'undefined',
    'null',
    ' ',
    'pk live',
    'pk\r\nx-injected: 1',
    'pk\n',
    '\tpk',
    'pk\0',
    'pk\x7f',
    'ключ',
    'pk\u00a0',
    'pk\u200b',
    'p\u00adk',
    '\ufeffpk',
    'pk\ud800',
    '<PUBLIC_KEY>',
    '\u0024{PUBLIC_KEY}',
    '{{ public_key }}',
    'sk_<your key>',
    '"pk"',
    "'pk'",
    'p`k',
    '\u201cpk\u201d',
    42,
    ['pk'],
    {},
  ];

  test.each(unfit)('publicKey %j is refused', (value) => {
    const error = refusal({ baseUrl, publicKey: value });
    expect(error.option).toBe('publicKey');
    expect(error.message).toContain('publicKey');
  });

  test.each(unfit)('secretKey %j is refused', (value) => {
    expect(refusal({ baseUrl, publicKey, secretKey: value }).option).toBe('secretKey');
  });

  test('no part of the error shows the refused key', () => {
    for (const option of ['publicKey', 'secretKey']) {
      const error = refusal({ baseUrl, publicKey, [option]: 'sk_live_77\r\nx: y' });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('sk_live_77');
    }
  });

  test('a secret key equal to the public key is refused', () => {
    const error = refusal({ baseUrl, publicKey, secretKey: publicKey });
    expect(error.option).toBe('secretKey');
    expect(error.message).not.toContain(publicKey);
  });

  test('a key may contain every printable ASCII character but quotation marks', () => {
    const all = String.fromCharCode(...Array.from({ length: 0x7e - 0x20 }, (_, index) => 0x21 + index));
    // Without "${", "{{" and "<…>", which are placeholders.
    const key = all.replace(/["'`]/g, '');
    expect(() => createClient({ baseUrl, publicKey: key })).not.toThrow();
  });
});

describe('baseUrl is taken literally', () => {
  test.each([
    'https://service.example',
    'https://service.example/',
    'https://service.example:8443/pay/v2',
    'HTTPS://Service.Example',
    'http://localhost:4010',
    'http://127.0.0.1:4010',
    'http://127.9.9.9',
    'http://[::1]:4010',
  ])('%s is accepted', (value) => {
    expect(() => createClient({ baseUrl: value, publicKey })).not.toThrow();
  });

  test.each([
    undefined,
    null,
    '',
    'undefined',
    'service.example',
    '/data',
    'ftp://service.example',
    'http://service.example',
    'http://127.0.0.1.service.example',
    'http://localhost.service.example',
    'http://10.0.0.7',
    'http://0.0.0.0',
    'https://user:pass@service.example',
    'https://@service.example',
    'https://user@service.example',
    'https://service.example?x=1',
    'https://service.example/?',
    'https://service.example/#top',
    'https://service.example\n',
    ' https://service.example',
    'https://service.example\\@other.example',
    'https:service.example',
    'https:/service.example',
    'https://',
    'https://exa mple',
    42,
    new URL('https://service.example'),
  ])('%s is refused', (value) => {
    expect(refusal({ baseUrl: value, publicKey }).option).toBe('baseUrl');
  });

  test('the error does not show a password in the URL', () => {
    const error = refusal({ baseUrl: 'https://user:hunter2@service.example', publicKey });
    expect(inspect(error)).not.toContain('hunter2');
  });

  test('a path appended to any accepted baseUrl stays on its host and keeps its prefix', () => {
    const parts = 'a|b2|pay|/|//|.|..|%2e|%2F|%40|@|:|:8443|?|#|\\| |\n|[|é|~|;=&'.split('|');
    const tail = fc.array(fc.constantFrom(...parts), { maxLength: 6 }).map((drawn) => drawn.join(''));
    const address = fc
      .tuple(fc.constantFrom('https://service.example', 'https://'), tail)
      .map(([start, rest]) => start + rest);
    let accepted = 0;
    fc.assert(
      fc.property(address, (value) => {
        let base: ReturnType<typeof parseBaseUrl>;
        try {
          base = parseBaseUrl(value);
        } catch (error) {
          return error instanceof ConfigurationError;
        }
        accepted += 1;
        const joined = new URL(`${base.text}/data/wallet-balances`);
        const prefix = new URL(value).pathname.replace(/\/+$/, '');
        return joined.host === new URL(value).host && joined.pathname === `${prefix}/data/wallet-balances`;
      }),
      { numRuns: 1000 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});

describe('the other options are checked at construction', () => {
  test.each([
    ['timeoutMs', 0],
    ['timeoutMs', -1],
    ['timeoutMs', Number.NaN],
    ['timeoutMs', Number.POSITIVE_INFINITY],
    ['timeoutMs', 2 ** 31],
    ['timeoutMs', '5000'],
    ['maxAttempts', 0],
    ['maxAttempts', 1.5],
    ['maxAttempts', '3'],
    ['fetch', 'fetch'],
    ['onResponse', {}],
    ['allowUnverifiedTls', 'false'],
    ['cache', true],
    ['strict', 'yes'],
    ['onDeviation', 'log'],
    ['allowInsecureHost', ''],
    ['allowInsecureHost', 42],
    ['allowInsecureHost', ['sandbox', 'http://x']],
  ])('%s: %s is refused', (option, value) => {
    expect(refusal({ baseUrl, publicKey, [option]: value }).option).toBe(option);
  });

  test.each([
    ['cache.ttlMs', {}],
    ['cache.ttlMs', { ttlMs: 0 }],
    ['cache.ttlMs', { ttlMs: Number.NaN }],
    ['cache.staleIfErrorMs', { ttlMs: 1000, staleIfErrorMs: -1 }],
  ])('%s is refused in the cache options %j', (option, cache) => {
    expect(refusal({ baseUrl, publicKey, cache }).option).toBe(option);
  });

  test('a call without options throws a ConfigurationError', () => {
    expect(() => Reflect.apply(createClient, undefined, [])).toThrow(ConfigurationError);
  });
});

describe('http:// beyond this machine', () => {
  test.each(['sandbox', 'SANDBOX', 'sandbox:4010', ['other', 'sandbox']])(
    'allowInsecureHost %j allows the host sandbox',
    (allowInsecureHost) => {
      const options = { baseUrl: 'http://sandbox:4010', publicKey, allowInsecureHost };
      expect(() => createClient(options)).not.toThrow();
    },
  );

  test.each(['sandbox', 'sandbox:4011', 'box', 'http.sandbox', []])(
    'allowInsecureHost %j allows no other host',
    (allowInsecureHost) => {
      const error = refusal({ baseUrl: 'http://sandbox.example:4010', publicKey, allowInsecureHost });
      expect(error.option).toBe('baseUrl');
    },
  );

  test('the refusal names the option and its risk', () => {
    const { message } = refusal({ baseUrl: 'http://sandbox:4010', publicKey });
    expect(message).toContain('allowInsecureHost');
    expect(message).toContain('read the keys');
  });
});

describe('unknown options are refused', () => {
  test.each([
    ['timeoutMS', 'timeoutMs'],
    ['base_url', 'baseUrl'],
    ['maxAttempt', 'maxAttempts'],
    ['onResponce', 'onResponse'],
    ['allowInsecureHosts', 'allowInsecureHost'],
  ])('%s is refused with a hint at %s', (typo, known) => {
    const error = refusal({ baseUrl, publicKey, [typo]: 1 });
    expect(error.option).toBe(typo);
    expect(error.message).toBe(`createClient() does not know the option "${typo}". Did you mean "${known}"?`);
  });

  test('a name unlike any option lists all of them', () => {
    expect(refusal({ baseUrl, publicKey, zzz: 1 }).message).toContain('Known options: baseUrl, publicKey');
  });

  test('names of Object.prototype are unknown like any other', () => {
    expect(refusal({ baseUrl, publicKey, constructor: 1 }).option).toBe('constructor');
    expect(refusal({ baseUrl, publicKey, ['__proto__']: 1 }).option).toBe('__proto__');
  });

  test('options of the cache are checked too', () => {
    expect(refusal({ baseUrl, publicKey, cache: { ttlMs: 1, ttl: 1 } }).message).toContain('"ttlMs"');
  });

  test('every documented option is known', () => {
    const all: Required<ClientOptions> = {
      baseUrl,
      publicKey,
      secretKey,
      timeoutMs: 1,
      maxAttempts: 1,
      strict: true,
      onDeviation: () => {},
      fetch: globalThis.fetch,
      onResponse: () => {},
      cache: { ttlMs: 1, staleIfErrorMs: 0 },
      allowInsecureHost: 'sandbox',
      allowUnverifiedTls: true,
      timing: {},
    };
    expect(() => createClient(all)).not.toThrow();
  });
});
