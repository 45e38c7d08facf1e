import { ConfigurationError, createVerifier } from '@payment-service/core';
import { afterEach, expect, test, vi } from 'vitest';
import { createSandbox, defaultProviders, type SandboxOptions } from '../src/index.ts';
import { call, collection, listOf } from './support/api.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const [mobile] = defaultProviders;
if (mobile === undefined) throw new Error('there is no provider');
const changed = (option: object, rest: object = {}) => ({
  providers: [{ ...mobile, ...rest, option: { ...mobile.option, ...option } }],
});

test('threat A27: all keys start with SANDBOX, and have letters and digits only', () => {
  const { account } = createSandbox();
  for (const key of Object.values(account)) expect(key).toMatch(/^SANDBOX[A-Za-z0-9]{20,}$/);
});

test('a seed gives the same keys in every version, and the same references; another seed, or none, gives others', () => {
  const sandboxes = [{ seed: 'docs' }, { seed: 'docs' }, { seed: 'b' }, {}, {}].map(createSandbox);
  expect(sandboxes[0]?.account).toEqual({
    publicKey: 'SANDBOXPUBLIC2e0ac79d7c754d1717eeb6c6',
    secretKey: 'SANDBOXSECRET5fc393629d66f2fdcd6bb718824ac37c',
    signingKey: 'SANDBOXSIGNING50802fa5407cad59a8426b41691c5289',
  });
  const references = sandboxes.map((one) => one.collect(collection).transaction.internal_reference);
  expect([references[0], new Set(references).size]).toEqual([references[1], 4]);
  expect(new Set(sandboxes.flatMap(({ account }) => Object.values(account))).size).toBe(12);
});

test.each<[string, SandboxOptions, string]>([
  ['an empty seed', { seed: '' }, 'seed'],
  ['a host that can never match', { allowedHosts: ['Shop'] }, 'allowedHosts'],
  ['an unknown retry preset', { retry: JSON.parse('{"preset":"never"}') }, 'retry'],
  ['an address elsewhere', { callbackUrl: 'http://example.com/' }, 'callbackUrl'],
  ['a misbehaviour out of range', { misbehave: { duplicate: 99 } }, 'misbehave'],
  ['a retry rule out of range', { retry: { max_attempts: 0 } }, 'retry'],
  ['limits that are not exact', changed({ min_amount: 0.5 }), 'providers'],
  ['a limit of a day below that of one', changed({ max_daily_amount: 4_999_999 }), 'providers'],
  ['a share of more than everything', changed({}, { chargeBasisPoints: 10_001 }), 'providers'],
  ['an invalid currency', changed({ transaction_currency: 'Shilling' }), 'providers'],
  ['a provider twice', { providers: [mobile, mobile] }, 'providers'],
])('a wrong option is found at construction: %s', (_, options, option) => {
  const error = expect.objectContaining({ code: 'invalid_configuration', option });
  expect(() => createSandbox(options)).toThrow(error);
});

test('an option that is undefined is one that is left out, in rules and misbehaviours as well', async () => {
  const retry = { preset: 'not-2xx', max_attempts: undefined, backoff_ms: 1, backoff_factor: 1 } as const;
  const misbehave = { lost: true, event: undefined, duplicate: undefined };
  await using sandbox = createSandbox({
    retry,
    misbehave,
    callbackUrl: 'http://127.0.0.1:1/',
    seed: undefined,
  });
  const { transaction } = sandbox.collect(collection);
  expect(transaction.misbehave).toStrictEqual({ lost: true });
  const [sent] = sandbox.compose(transaction.id, { signature: 'keep', event: undefined, retry: undefined });
  const [again] = sandbox.compose(sent?.id ?? 0, { signature: 'keep', event: undefined, body: undefined });
  expect(again?.misbehaves.at(-1)).toBe(`sent again after ${sent?.id}`);
  await sandbox.idle();
  expect(sandbox.deliveries().map(({ attempts }) => attempts.length)).toEqual([5, 5]);
});

test.each([
  ['callBackUrl', 'Did you mean "callbackUrl"?'],
  ['retries', 'Did you mean "retry"?'],
  ['port', 'Known options: seed, file, '],
])('the unknown option %s is refused with the near name, or the list of options: %s', (option, says) => {
  const message = expect.stringContaining(`createSandbox() does not know the option "${option}". ${says}`);
  const error = expect.objectContaining({ code: 'invalid_configuration', option, message });
  expect(() => createSandbox({ [option]: undefined })).toThrow(error);
});

test.each(['production', 'staging', 'Production'])(
  'threat A27: no sandbox is created with NODE_ENV=%j, with which a verifier refuses the signing key as well',
  (environment) => {
    const { signingKey } = createSandbox().account;
    vi.stubEnv('NODE_ENV', environment);
    expect(() => createSandbox()).toThrow(expect.objectContaining({ option: 'NODE_ENV' }));
    expect(() => createVerifier({ signingKey })).toThrow(ConfigurationError);
  },
);

test('custom providers replace the built-in ones', async () => {
  const ours = { provider_code: 'ours', transaction_currency: 'BHD', min_amount: 0.001 };
  const sandbox = createSandbox(changed(ours));
  const listed = listOf(await call(sandbox, 'GET', '/data/payment-providers'));
  expect(listed).toEqual([{ ...mobile.option, ...ours }]);
  const request = { ...collection, provider_code: 'ours', currency: 'BHD', amount: 1.005 };
  const { transaction } = sandbox.collect(request);
  expect([transaction.transaction_charge, transaction.total_credit]).toEqual([0.03, 0.975]);
  expect(() => sandbox.collect({ ...request, amount: 1.0055 })).toThrow(/at most 3 decimals in BHD/);
});
