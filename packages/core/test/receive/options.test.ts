import { expect, test } from 'vitest';
import { ConfigurationError, createVerifier } from '../../src/index.ts';
import { createCallbackReceiver, createRedirectReceiver } from '../../src/receive/index.ts';
import { SIGNING_KEY as signingKey } from '../signed-callbacks.ts';

const MAKERS = {
  'createVerifier()': createVerifier,
  'paymentCallbacks()': createCallbackReceiver,
  'paymentRedirects()': createRedirectReceiver,
};
/** Calls a factory with any options, which it must check instead of the compiler. */
const make = (call: keyof typeof MAKERS, options: object | null | undefined) => () =>
  Reflect.apply(MAKERS[call], undefined, [options && { signingKey, ...options }]);

const MILLISECONDS = 'a number of milliseconds above 0';
const [CALLBACKS, REDIRECTS] = ['paymentCallbacks()', 'paymentRedirects()'] as const;

test.each<[call: keyof typeof MAKERS, option: string, shape: string, invalid: unknown[]]>([
  ...['onCallback', 'onAuthenticRefusal', 'onRefused', 'onError'].map(
    (hook): [typeof CALLBACKS, string, string, unknown[]] => [
      CALLBACKS,
      hook,
      'a function',
      ['handler', [], true, {}],
    ],
  ),
  [CALLBACKS, 'failureStatus', 'an HTTP status from 400 to 599', [200, 399, 600, 429.5, '500']],
  [
    ...([CALLBACKS, 'methods', 'a list of POST, PUT or PATCH, the methods that carry a body'] as const),
    [[], 'POST', ['post'], ...['GET', 'HEAD', 'OPTIONS', 'DELETE'].map((method) => ['POST', method])],
  ],
  [CALLBACKS, 'bodyTimeoutMs', MILLISECONDS, [0, 2 ** 31]],
  [CALLBACKS, 'handlerTimeoutMs', MILLISECONDS, [0, Number.NaN, 2 ** 31, '5000']],
  [CALLBACKS, 'toleranceSeconds', 'a number of seconds above 0', [-1]],
  [CALLBACKS, 'colonIn', 'merchant_reference or internal_reference', ['event']],
  [REDIRECTS, 'refusedLocation', 'an address', ['', '/two words']],
  [REDIRECTS, 'onRedirect', 'a function', ['/thanks']],
  [REDIRECTS, 'handlerTimeoutMs', MILLISECONDS, [-1]],
])('%s refuses a %s that is not %s, such as %j', (call, option, shape, invalid) => {
  const message = `${option} must be ${shape}, or be left out.`;
  const refusal = expect.objectContaining({ code: 'invalid_configuration', option, message });
  for (const value of invalid) expect(make(call, { [option]: value })).toThrow(refusal);
});

test('every receiver checks its signing key', () => {
  for (const call of [CALLBACKS, REDIRECTS])
    expect(make(call, { signingKey: undefined })).toThrow(expect.objectContaining({ option: 'signingKey' }));
});

test.each([
  { failureStatus: 400 },
  { failureStatus: 599 },
  { bodyTimeoutMs: 1 },
  { handlerTimeoutMs: 2 ** 31 - 1 },
])('the options %o of a callback route are accepted', (options) =>
  expect(make(CALLBACKS, options)).not.toThrow(),
);

test.each([undefined, null, 'key'])('the options %s are refused', (options) => {
  const refusal = expect.objectContaining({ code: 'invalid_configuration' });
  for (const maker of [createCallbackReceiver, createRedirectReceiver])
    expect(() => Reflect.apply(maker, undefined, [options])).toThrow(refusal);
});

test.each(['createVerifier()', CALLBACKS, REDIRECTS] as const)(
  '%s refuses an option that it does not know, and names the closest one',
  (call) => {
    const message = `${call} does not know the option "toleranceSecs". Did you mean "toleranceSeconds"?`;
    const refusal = new ConfigurationError('toleranceSecs', message);
    expect(make(call, { toleranceSecs: 30 })).toThrow(refusal);
  },
);

test.each([
  [CALLBACKS, { oncallback: () => undefined }, /"oncallback".*"onCallback"/],
  [REDIRECTS, { onredirect: () => '/' }, /"onredirect".*"onRedirect"/],
  [CALLBACKS, { onRedirect: () => '/thanks' }, /"onRedirect"/],
  [REDIRECTS, { onCallback: () => undefined }, /"onCallback"/],
  ['createVerifier()', { onRefused: () => undefined }, /"onRefused"/],
  ['createVerifier()', { redirectFields: { evnt: 'x' } }, /does not know the option "evnt"/],
  ['createVerifier()', { redirectDefaults: { evnt: 'x' } }, /does not know the option "evnt"/],
] as const)('%s refuses a typo, and an option of another route: %o', (call, options, message) => {
  expect(make(call, options)).toThrow(message);
});

test('every option of the three is known, and undefined counts as left out', () => {
  const undefinedIn = (names: string) =>
    Object.fromEntries(names.split(' ').map((name) => [name, undefined]));
  const verifier = undefinedIn(
    'toleranceSeconds colonIn isMerchantReference redirectFields redirectDefaults account publicKey secretKey allowSandboxKeys now',
  );
  const shared = { ...verifier, ...undefinedIn('onRefused onError failureStatus handlerTimeoutMs') };
  const callbacks = undefinedIn('onCallback onAuthenticRefusal bodyTimeoutMs methods');
  expect(make('createVerifier()', verifier)).not.toThrow();
  expect(make(CALLBACKS, { ...shared, ...callbacks })).not.toThrow();
  expect(make(REDIRECTS, { ...shared, ...undefinedIn('onRedirect refusedLocation') })).not.toThrow();
});
