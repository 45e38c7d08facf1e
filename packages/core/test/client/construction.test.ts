import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parseBaseUrl } from '../../src/client/base-url.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { createClient } from '../../src/client/create-client.ts';
import { ConfigurationError } from '../../src/errors.ts';
import { publicKey, secretKey } from './wire-samples.ts';

const baseUrl = 'https://service.example';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

function refusal(options: object): ConfigurationError {
  try {
    createClient(options as ClientOptions);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('createClient() accepted these options.');
}

describe('keys: checked at construction, named and never shown', () => {
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

  test('a refused key is in no part of the error', () => {
    for (const option of ['publicKey', 'secretKey']) {
      const error = refusal({ baseUrl, publicKey, [option]: 'sk_live_77\r\nx: y' });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('sk_live_77');
    }
  });

  test('the secret key must not be the public key', () => {
    const error = refusal({ baseUrl, publicKey, secretKey: publicKey });
    expect(error.option).toBe('secretKey');
    expect(error.message).not.toContain(publicKey);
  });

  test('every visible ASCII character may be in a key', () => {
    const all = String.fromCharCode(...Array.from({ length: 0x7e - 0x20 }, (_, index) => 0x21 + index));
    expect(() => createClient({ baseUrl, publicKey: all })).not.toThrow();
  });
});

describe('baseUrl', () => {
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

  test('a password in it is not shown', () => {
    const error = refusal({ baseUrl: 'https://user:hunter2@service.example', publicKey });
    expect(inspect(error)).not.toContain('hunter2');
  });

  test('whatever is accepted, a path joined to it stays on its host and keeps its prefix', () => {
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

describe('the other options', () => {
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
  ])('%s: %s is refused', (option, value) => {
    expect(refusal({ baseUrl, publicKey, [option]: value }).option).toBe(option);
  });

  test.each([
    ['cache.ttlMs', {}],
    ['cache.ttlMs', { ttlMs: 0 }],
    ['cache.ttlMs', { ttlMs: Number.NaN }],
    ['cache.staleIfErrorMs', { ttlMs: 1000, staleIfErrorMs: -1 }],
  ])('%s is checked: %j', (option, cache) => {
    expect(refusal({ baseUrl, publicKey, cache }).option).toBe(option);
  });

  test('no options at all is a ConfigurationError too', () => {
    expect(() => Reflect.apply(createClient, undefined, [])).toThrow(ConfigurationError);
  });
});

describe('certificate checks turned off: the secret key stays here', () => {
  test('NODE_TLS_REJECT_UNAUTHORIZED=0 is refused at construction, and allowUnverifiedTls is named', () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const error = refusal({ baseUrl, publicKey, secretKey });
    expect(error.option).toBe('allowUnverifiedTls');
    expect(error.message).toContain('NODE_TLS_REJECT_UNAUTHORIZED');
    expect(() => createClient({ baseUrl, publicKey })).not.toThrow();
    expect(() => createClient({ baseUrl, publicKey, secretKey, allowUnverifiedTls: true })).not.toThrow();
    expect(() => createClient({ baseUrl: 'http://127.0.0.1:1', publicKey, secretKey })).not.toThrow();
  });

  test('a runtime that forbids to read its environment is no reason to refuse', () => {
    const guarded = {
      get env(): never {
        throw new Error('Requires env access');
      },
    };
    vi.stubGlobal('process', guarded);
    expect(() => createClient({ baseUrl, publicKey, secretKey })).not.toThrow();
  });

  test('set after construction, it is refused before the request is made', async () => {
    let sent = 0;
    const fetch = async (): Promise<Response> => {
      sent += 1;
      throw new TypeError('fetch failed');
    };
    const options = { baseUrl, publicKey, secretKey, fetch, maxAttempts: 1 };
    const client = createClient(options);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    await expect(client.getWalletBalances()).rejects.toMatchObject({ option: 'allowUnverifiedTls' });
    expect(sent).toBe(0);
    const allowed = createClient({ ...options, allowUnverifiedTls: true });
    await expect(allowed.getWalletBalances()).rejects.toMatchObject({ code: 'connection_failed' });
    expect(sent).toBe(1);
  });
});
