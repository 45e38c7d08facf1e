import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConfigurationError, createVerifier } from '../../src/index.ts';
import { createCallbackReceiver, createRedirectReceiver } from '../../src/receive/index.ts';
import { signCallback } from '../../src/testing.ts';
import { callbackData, OTHER_KEY, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { misconfigured } from '../verify.ts';

// Decision D7, in addition to the vectors of the contract: keys that are refused at construction, keys that rotate, sandbox
// keys.

const SANDBOX_KEY = 'SANDBOX-3f9c2a7e5b1d';
const SHOWN_IN = 'The dashboard shows it under the account details.';
const [a, b] = [
  { id: 'a', key: SIGNING_KEY },
  { id: 'b', key: OTHER_KEY },
];
/** Any value as a key: the compiler does not check that of a merchant in JavaScript. */
const make = (signingKey: unknown, options: object = {}) => {
  return () => createVerifier({ signingKey: signingKey as string, ...options });
};

beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

test.each<[reason: string, ...keys: unknown[]]>([
  ['is missing', undefined, ''],
  ['is the string "undefined". Is the environment variable set?', 'undefined'],
  ['is the string "null"', 'null'],
  ['placeholder', '<SIGNING_KEY>', '<your key, please!>', 'live_<key>', '{{ signing_key }}'],
  ['placeholder', '\u0024{SIGNING_KEY}', 'live_\u0024{KEY}'],
  [
    'placeholder',
    'YOUR_SIGNING_KEY',
    'your-key-of-2026',
    'YourSigningKeyHere',
    'INSERT_KEY_HERE',
    'EXAMPLE_SIGNING_KEY',
  ],
  [
    'placeholder',
    'xxxxxxxxxxxxxxxx',
    'XXXX-xxxx-XXXX-xxxx',
    '0000000000000000',
    '****************',
    '........',
  ],
  [
    'placeholder',
    'changeme',
    'change-me',
    'ChangeMe123',
    'todo',
    'TODO',
    'test',
    'secret',
    'example',
    'my.secret_key-1',
  ],
  ['quotation mark', `"${SIGNING_KEY}"`, `'${SIGNING_KEY}'`, 'A"BC', '`ABC`', `\u201c${SIGNING_KEY}\u201d`],
  ['white space', ...['\t', '\r', '\u2028'].map((space) => `A${space}BC`)],
  ['white space', `${SIGNING_KEY}\n`, ` ${SIGNING_KEY}`, 'A\u00a0BC', `\ufeff${SIGNING_KEY}`],
  [
    'invisible',
    ...['\u200b', '\u2060', '\ud800', '\0', '\u0085', '\u001b', '\u007f'].map((end) => SIGNING_KEY + end),
  ],
  ['invisible', `\u00ad${SIGNING_KEY}`, 'A\u3164BC', 'A\u0600BC'],
  ['invisible character', Buffer.from('H0"Wt3YrU4iO', 'base64').toString()],
  ['invisible character', Buffer.from('f0e1d2c3b4a59687', 'hex').toString('latin1'), `${SIGNING_KEY}\0`],
])('threat A19: in every place that takes a key, it is refused because it %s: %j', (reason, ...keys) => {
  const refusal = (option: string) => misconfigured(option, expect.stringContaining(reason));
  for (const given of keys) {
    const signingKey = given as string;
    for (const create of [createVerifier, createCallbackReceiver, createRedirectReceiver])
      expect(() => create({ signingKey })).toThrow(refusal('signingKey'));
    expect(make([{ id: 'a', key: given }])).toThrow(refusal('signingKey[0].key'));
    expect(() => signCallback({ signingKey, data: callbackData() })).toThrow(refusal('signingKey'));
  }
});

const LIST = 'signingKey must be a string or a list of 1 to 4 { id, key, notAfter? }.';
const TWICE = 'signingKey repeats an id or a key.';
const DATE = 'signingKey[0].notAfter must be a valid Date, or be left out.';
const NAME = 'signingKey[0].id must be a name for logs.';
const five = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, key: `${SIGNING_KEY}${id}` }));
test.each<[what: string, signingKey: unknown, message: string | RegExp]>([
  ['that is a number', 12345678, LIST],
  ['with no keys', [], LIST],
  ['with five keys', five, LIST],
  ['with a repeated id', [a, { ...b, id: 'a' }], TWICE],
  ['with a repeated key', [a, { ...b, key: SIGNING_KEY }], TWICE],
  ['with an empty key in a list', [a, { ...b, key: '' }], /^signingKey\[1\]\.key is missing/],
  ['with null in a list', [{ ...a, key: null }], /^signingKey\[0\]\.key is missing/],
  ['with a number in a list', [{ ...a, key: 42 }], /^signingKey\[0\]\.key must be a string/],
  ['with a list in a list', [{ ...a, key: ['key'] }], /^signingKey\[0\]\.key must be a string/],
  ['with bytes in a list', [{ ...a, key: Buffer.from('ABC') }], /^signingKey\[0\]\.key must be a string/],
  ['with an empty id', [{ ...a, id: '' }], NAME],
  ['with a number as id', [{ ...a, id: 1 }], NAME],
  ['with an invalid notAfter', [{ ...a, notAfter: new Date('soon') }], DATE],
  ['with a number as notAfter', [{ ...a, notAfter: T }], DATE],
])('decision D7: a signingKey %s is refused, and the message does not show it', (_, signingKey, message) => {
  expect(make(signingKey)).toThrow(ConfigurationError);
  expect(make(signingKey)).toThrow(message);
  expect(make(signingKey)).toThrow(expect.objectContaining({ option: expect.stringMatching(/^signingKey/) }));
  expect(make(signingKey)).not.toThrow(SIGNING_KEY);
});

test.each(['public', 'secret'])('threat A19: a signing key equal to the %s key is refused', (which) => {
  const message = `signingKey is the ${which} key. ${SHOWN_IN}`;
  expect(make(SIGNING_KEY, { [`${which}Key`]: SIGNING_KEY })).toThrow(message);
  expect(make(SIGNING_KEY, { publicKey: 'p', secretKey: 's' })).not.toThrow();
});

const OF_SANDBOX = 'SANDBOXSIGNINGh4Jk7Lm2Np9Qr3St6Uv8Wx5Yz';
const random = fc.stringMatching(/^[A-Za-z0-9]{16,64}$/);
test('threat A19: no random key of 16 to 64 letters and digits is a placeholder, whatever word it begins or ends with', () => {
  const words = fc.constantFrom('', 'TEST', 'secret', 'your', 'xxxx', 'sk_live_', 'test-', 'key');
  fc.assert(
    fc.property(words, random, words, (before, key, after) => {
      expect(make(before + key + after)).not.toThrow();
    }),
    { numRuns: 4000 },
  );
});

test.each([
  'EXAMPLESIGNINGKEY',
  'TEST4SIGNING4KEY',
  'a',
  'sk_live_77+/=',
  'a<b',
  '\u043a\u043b\u044e\u0447',
  OF_SANDBOX,
])('control: the key %s is accepted', (signingKey) => {
  expect(make(signingKey)).not.toThrow();
});

test.each(['PUBLIC', 'SECRET'])(
  'threat A19: the %s key of a sandbox is refused at construction, by name',
  (kind) => {
    const key = OF_SANDBOX.replace('SIGNING', kind);
    expect(make(key)).toThrow(ConfigurationError);
    const message = `signingKey is a ${kind} key of a sandbox. Use its signing key.`;
    expect(make(key, { allowSandboxKeys: true })).toThrow(message);
  },
);

/** Another copy of core, which has not warned yet. */
async function freshCopy(): Promise<{ create: typeof createVerifier; printed: () => string[] }> {
  vi.resetModules();
  const warn = vi.spyOn(console, 'warn').mockReset().mockReturnValue();
  const { createVerifier: create } = await import('../../src/index.ts');
  return { create, printed: () => warn.mock.calls.map(([warning]) => String(warning)) };
}

test('threat A19: a key of fewer than 16 characters is accepted with one warning for its option', async () => {
  const { create, printed } = await freshCopy();
  create({ signingKey: 'KQ'.repeat(8) });
  expect(printed()).toEqual([]);
  for (let times = 0; times < 3; times++) create({ signingKey: 'KQ'.repeat(7) });
  const warning = `has fewer than 16 characters, so it can be guessed. ${SHOWN_IN}`;
  expect(printed()).toEqual([`@payment-service/core: signingKey ${warning}`]);
  create({ signingKey: [a, { id: 'b', key: 'Q' }] });
  expect(printed()[1]).toContain('signingKey[1].key has');
  expect(printed().join()).not.toMatch(/KQ|Q/);
  expect(printed()).toHaveLength(2);
});

test('threat A19: a key that is not only letters and digits is accepted with one warning, without the key', async () => {
  const { create, printed } = await freshCopy();
  for (let times = 0; times < 3; times++) create({ signingKey: 'sk_live_Zq8sT4vLm2XwRk7P' });
  const warning = `has a character other than letters and digits, so it is probably another key. ${SHOWN_IN}`;
  expect(printed()).toEqual([`@payment-service/core: signingKey ${warning}`]);
});

const get = (): never => {
  throw new Error('Requires env access'); // Like Deno without --allow-env.
};
const ADVICE =
  'In production, use the signing key of the account. For development, set NODE_ENV=development. For a test system, see allowSandboxKeys.';
test.each<[where: string, set: () => unknown]>([
  ['when NODE_ENV is unset', () => vi.stubEnv('NODE_ENV', undefined)],
  ['when NODE_ENV is empty', () => vi.stubEnv('NODE_ENV', '')],
  ['where no environment may be read', () => vi.stubGlobal('process', { env: new Proxy({}, { get }) })],
  ['where there is no environment', () => vi.stubGlobal('process', undefined)],
])('threat A27: a sandbox key is refused %s, unless allowSandboxKeys is true', (_where, set) => {
  set();
  const refusal = `signingKey is a sandbox key, and NODE_ENV is not set. ${ADVICE}`;
  expect(make(SANDBOX_KEY)).toThrow(refusal);
  expect(make(SANDBOX_KEY, { allowSandboxKeys: true })).not.toThrow();
});

test('threat A27: a sandbox key is accepted without a warning in development and test, and when it is allowed', async () => {
  const { create, printed } = await freshCopy();
  for (const environment of ['development', 'test', 'production', 'staging', '']) {
    vi.stubEnv('NODE_ENV', environment);
    const isUsual = /dev|test/.test(environment);
    create({ signingKey: SANDBOX_KEY, allowSandboxKeys: isUsual ? undefined : true });
    if (isUsual) createCallbackReceiver({ signingKey: SANDBOX_KEY });
  }
  expect(printed()).toEqual([]);
});

test.each(['production', 'staging', ' test', 'Development', 'toString'])(
  'threat A27: with NODE_ENV %j a sandbox key is refused, unless allowSandboxKeys is true',
  (environment) => {
    vi.stubEnv('NODE_ENV', environment);
    for (const create of [createVerifier, createCallbackReceiver, createRedirectReceiver])
      for (const signingKey of [SANDBOX_KEY, [b, { id: 'sandbox', key: SANDBOX_KEY }]]) {
        expect(() => create({ signingKey })).toThrow(
          `is a sandbox key, and NODE_ENV is "${environment}". ${ADVICE}`,
        );
        expect(() => create({ signingKey, allowSandboxKeys: false })).toThrow(/is a sandbox key/);
        expect(() => create({ signingKey, allowSandboxKeys: true })).not.toThrow();
      }
    expect(make(SIGNING_KEY)).not.toThrow();
  },
);

test.each([1, 'true', null])('threat A27: the allowSandboxKeys %j is refused', (allowSandboxKeys) => {
  expect(make(SIGNING_KEY, { allowSandboxKeys })).toThrow(misconfigured('allowSandboxKeys'));
});
