import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConfigurationError, createVerifier } from '../../src/index.ts';
import { createCallbackReceiver, createRedirectReceiver } from '../../src/receive/index.ts';
import { signCallback } from '../../src/testing.ts';
import { callbackData, HASH_OF_EMPTY_KEY, OTHER_KEY, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { NOW, sign, verdictOf, verify } from '../verify.ts';

// Decision D7, in addition to the vectors of the contract: keys that are refused at construction, keys that rotate, sandbox
// keys.

const SANDBOX_KEY = 'SANDBOX-3f9c2a7e5b1d';

beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

test.each([
  [undefined, 'is missing'],
  ['', 'is missing'],
  ['undefined', 'is the string "undefined". Is the environment variable set?'],
  ['null', 'is the string "null"'],
  ['<SIGNING_KEY>', 'placeholder'],
  ['<your key, please!>', 'placeholder'],
  ['live_<key>', 'placeholder'],
  ['\u0024{SIGNING_KEY}', 'placeholder'],
  ['live_\u0024{KEY}', 'placeholder'],
  ['{{ signing_key }}', 'placeholder'],
  [`"${SIGNING_KEY}"`, 'quotation mark'],
  [`'${SIGNING_KEY}'`, 'quotation mark'],
  ['A"BC', 'quotation mark'],
  ['`ABC`', 'quotation mark'],
  [`\u201c${SIGNING_KEY}\u201d`, 'quotation mark'],
  [`${SIGNING_KEY}\n`, 'white space'],
  [` ${SIGNING_KEY}`, 'white space'],
  ['A\u00a0BC', 'white space'],
  [`\ufeff${SIGNING_KEY}`, 'white space'],
  [`${SIGNING_KEY}\u200b`, 'invisible'],
  [`${SIGNING_KEY}\u2060`, 'invisible'],
  [`\u00ad${SIGNING_KEY}`, 'invisible'],
  ['A\u3164BC', 'invisible'],
  ['A\u0600BC', 'invisible'],
  [`${SIGNING_KEY}\ud800`, 'invisible'],
  [`${SIGNING_KEY}\0`, 'invisible character'],
  [`${SIGNING_KEY}\u0085`, 'invisible character'],
  [Buffer.from('H0"Wt3YrU4iO', 'base64').toString(), 'invisible character'],
  [Buffer.from('f0e1d2c3b4a59687', 'hex').toString('latin1'), 'invisible character'],
])('threat A19: the key %j is refused in every place that takes one, because it %s', (given, reason) => {
  const key = given as string;
  const refusal = (option: string) => {
    const message = expect.stringContaining(reason);
    return expect.objectContaining({ code: 'invalid_configuration', option, message });
  };
  expect(() => createVerifier({ signingKey: key })).toThrow(refusal('signingKey'));
  expect(() => createVerifier({ signingKey: [{ id: 'a', key }] })).toThrow(refusal('signingKey[0].key'));
  expect(() => createCallbackReceiver({ signingKey: key })).toThrow(refusal('signingKey'));
  expect(() => createRedirectReceiver({ signingKey: key })).toThrow(refusal('signingKey'));
  expect(() => signCallback({ signingKey: key, data: callbackData() })).toThrow(refusal('signingKey'));
});

test.each([
  [null, 'is missing'],
  [42, 'must be a string'],
  [['key'], 'must be a string'],
  [Buffer.from('ABC'), 'must be a string'],
])('threat A19: the key %j in a list is refused because it %s', (key, reason) => {
  const signingKey = [{ id: 'a', key: key as never }];
  expect(() => createVerifier({ signingKey })).toThrow(`signingKey[0].key ${reason}`);
});

test('threat A19: the refusal of a key says where the key is found and never shows it', () => {
  let refusal: unknown;
  try {
    createVerifier({ signingKey: '"HUNTER2"' });
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(ConfigurationError);
  expect(String(refusal)).toMatch(/ The dashboard shows it under the account details\.$/);
  expect(inspect(refusal, { depth: 10, showHidden: true })).not.toContain('HUNTER2');
});

test('threat A19: a key that contains white space or a control character anywhere is refused', () => {
  const control = fc.constantFrom(...' \t\n\r\0\u001b\u007f\u0085\u00a0\u2028\ufeff');
  fc.assert(
    fc.property(fc.tuple(fc.string(), control, fc.string()), ([before, character, after]) => {
      expect(() => createVerifier({ signingKey: before + character + after })).toThrow(ConfigurationError);
    }),
  );
});

const LIST = 'signingKey must be a string or a list of 1 to 4 { id, key, notAfter? }.';
const SHARED = 'signingKey has an id or a key twice.';
const DATE = 'signingKey[0].notAfter must be a valid Date, or be left out.';
const [a, b] = [
  { id: 'a', key: SIGNING_KEY },
  { id: 'b', key: OTHER_KEY },
];
const five = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, key: `${SIGNING_KEY}${id}` }));
test.each<[what: string, signingKey: unknown, message: string | RegExp]>([
  ['that is a number', 12345678, LIST],
  ['with no keys', [], LIST],
  ['with five keys', five, LIST],
  ['with a repeated id', [a, { ...b, id: 'a' }], SHARED],
  ['with a repeated key', [a, { ...b, key: SIGNING_KEY }], SHARED],
  ['with an empty key in a list', [a, { ...b, key: '' }], /^signingKey\[1\]\.key is missing/],
  ['with an empty id', [{ ...a, id: '' }], 'signingKey[0].id must be a name for logs.'],
  ['with a number as id', [{ ...a, id: 1 }], 'signingKey[0].id must be a name for logs.'],
  ['with an invalid notAfter', [{ ...a, notAfter: new Date('soon') }], DATE],
  ['with a number as notAfter', [{ ...a, notAfter: T }], DATE],
])('decision D7: a signingKey %s is refused, and the message does not show it', (_, signingKey, message) => {
  const make = () => createVerifier({ signingKey: signingKey as never });
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
  expect(make).toThrow(expect.objectContaining({ option: expect.stringMatching(/^signingKey/) }));
  expect(make).toThrow(expect.not.objectContaining({ message: expect.stringContaining(SIGNING_KEY) }));
});

test('threat A19: a key equal to the public or the secret key is refused', () => {
  for (const which of ['public', 'secret'])
    expect(() => createVerifier({ signingKey: SIGNING_KEY, [`${which}Key`]: SIGNING_KEY })).toThrow(
      `signingKey is the ${which} key. The dashboard shows it under the account details.`,
    );
  expect(() => createVerifier({ signingKey: SIGNING_KEY, publicKey: 'p', secretKey: 's' })).not.toThrow();
});

test.each(['EXAMPLESIGNINGKEY', 'a', 'sk_live_77+/=', 'a<b', '\u043a\u043b\u044e\u0447'])(
  'control: the key %s is accepted',
  (signingKey) => {
    expect(() => createVerifier({ signingKey })).not.toThrow();
  },
);

test('threat A19: no alphanumeric key is refused, since the service has no others', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9]{16,128}$/), (signingKey) => {
      fc.pre(!signingKey.startsWith('SANDBOX'));
      expect(() => createVerifier({ signingKey })).not.toThrow();
    }),
  );
});

test('threat A19: the digest under an empty key, which needs no secret, is a mismatch', () => {
  expect(verdictOf(verify(callbackData(), `t=${T},s=${HASH_OF_EMPTY_KEY}`))).toBe('mismatch');
});

test('threat A19: no key verifies the signature of another, even if both decode to the same bytes', () => {
  const key = fc.stringMatching(/^[A-Za-z0-9+/=_-]{1,80}$/);
  fc.assert(
    fc.property(key, key, (signedWith, verifiedWith) => {
      fc.pre([signedWith, verifiedWith].every((text) => text !== 'null' && text !== 'undefined'));
      const signature = sign(callbackData(), signedWith);
      const result = verify(callbackData(), signature, { signingKey: verifiedWith });
      expect(verdictOf(result)).toBe(signedWith === verifiedWith ? 'accepted' : 'mismatch');
    }),
  );
});

const signingKey = 'SANDBOXSIGNINGh4Jk7Lm2Np9Qr3St6Uv8Wx5Yz';

test.each([
  ['the public key', 'SANDBOXPUBLICh4Jk7Lm2Np9Qr3St6Uv8Wx', 'PUBLIC'],
  ['the secret key', 'SANDBOXSECRETh4Jk7Lm2Np9Qr3St6Uv8Wx', 'SECRET'],
])('threat A19: %s is refused at construction, by name', (_what, key, says) => {
  expect(() => createVerifier({ signingKey: key })).toThrow(ConfigurationError);
  expect(() => createVerifier({ signingKey: key, allowSandboxKeys: true })).toThrow(
    `signingKey is a ${says} key of a sandbox. Use its signing key.`,
  );
});

test('control: the signing key itself is accepted', () => {
  expect(() => createVerifier({ signingKey })).not.toThrow();
});

test('threat A20: the result has the id of the key that matched, and an expired key proves nothing', () => {
  const all = ['KEY-ONE-11111111', 'KEY-TWO-22222222', 'KEY-THREE-333333', 'KEY-FOUR-4444444'];
  const some = fc.shuffledSubarray(all, { minLength: 1 });
  fc.assert(
    fc.property(some, fc.constantFrom(...all), fc.integer({ min: -2, max: 2 }), (keys, used, offset) => {
      const signingKey = keys.map((key) => ({ id: `id of ${key}`, key, notAfter: new Date(NOW + offset) }));
      const body = callbackData({ merchant_reference: 'A:B' });
      for (const data of [callbackData(), body]) {
        const result = verify(data, sign(data, used), { signingKey });
        if (!keys.includes(used)) expect(result).toMatchObject({ code: 'mismatch', authentic: false });
        else if (offset < 0) expect(result).toMatchObject({ code: 'key_expired', authentic: false });
        else if (data === body) expect(result).toMatchObject({ code: 'ambiguous', authentic: true });
        else expect(result).toMatchObject({ ok: true, keyId: `id of ${used}` });
      }
    }),
  );
});

test('threat A19: a key of fewer than 16 characters is accepted with one warning for its option', async () => {
  const { create, printed } = await freshCopy();
  create({ signingKey: 'K'.repeat(16) });
  expect(printed()).toEqual([]);
  for (let times = 0; times < 3; times++) create({ signingKey: 'K'.repeat(15) });
  expect(printed()).toEqual([
    '@payment-service/core: signingKey has fewer than 16 characters, so it can be guessed. The dashboard shows it ' +
      'under the account details.',
  ]);
  const second = { id: 'b', key: 'Q' };
  create({ signingKey: [{ id: 'a', key: SIGNING_KEY }, second] });
  expect(printed()).toHaveLength(2);
  expect(printed()[1]).toContain('signingKey[1].key has');
  expect(printed().join()).not.toMatch(/KKK|Q/);
});

const get = (): never => {
  throw new Error('Requires env access'); // Like Deno without --allow-env.
};
test.each<[where: string, set: () => unknown]>([
  ['when NODE_ENV is unset', () => vi.stubEnv('NODE_ENV', undefined)],
  ['when NODE_ENV is empty', () => vi.stubEnv('NODE_ENV', '')],
  ['where the environment may not be read', () => vi.stubGlobal('process', { env: new Proxy({}, { get }) })],
])('threat A27: a sandbox key is accepted with one warning %s', async (_where, set) => {
  const { create, printed } = await freshCopy();
  set();
  for (let times = 0; times < 3; times++) create({ signingKey: SANDBOX_KEY });
  expect(printed()).toEqual([
    '@payment-service/core: signingKey is a sandbox key, and NODE_ENV is not set. Never use it in production.',
  ]);
});

test('threat A27: a sandbox key is accepted without a warning in development and test, and when it is allowed', async () => {
  const { create, printed } = await freshCopy();
  for (const environment of ['development', 'test']) {
    vi.stubEnv('NODE_ENV', environment);
    create({ signingKey: SANDBOX_KEY });
    createCallbackReceiver({ signingKey: SANDBOX_KEY });
  }
  for (const environment of ['production', 'staging', '']) {
    vi.stubEnv('NODE_ENV', environment);
    create({ signingKey: SANDBOX_KEY, allowSandboxKeys: true });
  }
  expect(printed()).toEqual([]);
});

/** Another copy of core, which has not warned yet. */
async function freshCopy(): Promise<{ create: typeof createVerifier; printed: () => string[] }> {
  vi.resetModules();
  const warn = vi.spyOn(console, 'warn').mockReset().mockReturnValue();
  const { createVerifier: create } = await import('../../src/index.ts');
  return { create, printed: () => warn.mock.calls.map(([warning]) => String(warning)) };
}

const listed = [OTHER_KEY, SANDBOX_KEY].map((key) => ({ id: key, key }));
const makers = [createVerifier, createCallbackReceiver, createRedirectReceiver].flatMap((make) =>
  [SANDBOX_KEY, listed].map((signingKey) => (options: object) => make({ signingKey, ...options })),
);

test.each([
  ...['production', 'Production', 'PRODUCTION', 'prod', 'staging', 'live'],
  ...[' test', 'Development', 'toString'],
])(
  'threat A27: with NODE_ENV %j a sandbox key is refused, unless allowSandboxKeys is true',
  (environment) => {
    vi.stubEnv('NODE_ENV', environment);
    for (const make of makers) {
      expect(() => make({})).toThrow(
        `is a sandbox key, and NODE_ENV is "${environment}". Use the signing key of the account, or set allowSandboxKeys ` +
          'where no customer pays.',
      );
      expect(() => make({ allowSandboxKeys: false })).toThrow(/is a sandbox key/);
      expect(() => make({ allowSandboxKeys: true })).not.toThrow();
    }
    expect(() => createVerifier({ signingKey: SIGNING_KEY })).not.toThrow();
  },
);

test.each([1, 'true', null])('threat A27: the allowSandboxKeys %j is refused', (allowSandboxKeys) => {
  const options = { signingKey: SIGNING_KEY, allowSandboxKeys: allowSandboxKeys as never };
  expect(() => createVerifier(options)).toThrow(expect.objectContaining({ option: 'allowSandboxKeys' }));
});
