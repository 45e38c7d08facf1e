import { expect, test } from 'vitest';
import { ConfigurationError, createVerifier } from '../../src/index.ts';
import { createCallbackReceiver, createRedirectReceiver } from '../../src/receive/index.ts';
import { SIGNING_KEY as signingKey } from '../signed-callbacks.ts';
import { misconfigured } from '../verify.ts';

const [VERIFIER, CALLBACKS, REDIRECTS] = [
  'createVerifier()',
  'paymentCallbacks()',
  'paymentRedirects()',
] as const;
const MAKERS = {
  ...{ [VERIFIER]: createVerifier, [CALLBACKS]: createCallbackReceiver, [REDIRECTS]: createRedirectReceiver },
};
type Call = keyof typeof MAKERS;
/** Calls a factory with any options, which it must check instead of the compiler. */
const make = (call: Call, options: object | null | undefined) => () =>
  Reflect.apply(MAKERS[call], undefined, [options && { signingKey, ...options }]);

const MILLISECONDS = 'a number of milliseconds above 0';
const BODY_METHODS = 'a list of POST, PUT or PATCH, the methods that carry a body';
const WITHOUT_BODY = ['GET', 'HEAD', 'OPTIONS', 'DELETE'].map((method) => ['POST', method]);
const FIELD = 'merchant_reference or internal_reference';

test.each<[Call, option: string, shape: string, ...invalid: unknown[]]>([
  ...['onCallback', 'onAuthenticRefusal', 'onRefused', 'onError'].map(
    (hook): [Call, string, string, ...unknown[]] => [CALLBACKS, hook, 'a function', 'handler', [], true, {}],
  ),
  [CALLBACKS, 'failureStatus', 'a number from 400 to 599', 200, 399, 600, 429.5, '500'],
  [CALLBACKS, 'methods', BODY_METHODS, [], 'POST', ['post'], ...WITHOUT_BODY],
  [CALLBACKS, 'bodyTimeoutMs', MILLISECONDS, 0, 2 ** 31],
  [CALLBACKS, 'handlerTimeoutMs', MILLISECONDS, 0, Number.NaN, 2 ** 31, '5000'],
  [
    VERIFIER,
    'toleranceSeconds',
    'a number of seconds above 0',
    0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '30',
  ],
  [VERIFIER, 'account', 'a string', 7, null, '\ud800'],
  [CALLBACKS, 'colonIn', FIELD, 'event', 'transaction_status', '', true, ['merchant_reference']],
  [REDIRECTS, 'refusedLocation', 'an address', '', '/two words'],
  [REDIRECTS, 'onRedirect', 'a function', '/thanks'],
  [REDIRECTS, 'handlerTimeoutMs', MILLISECONDS, -1],
])('threat A6, threat A32: %s refuses a %s that is not %s: %j', (call, option, shape, ...invalid) => {
  const says = expect.stringMatching(
    RegExp(`^${option} must be ${shape}, or be left out\\.(?: It is [^.]+\\.)?$`),
  );
  for (const value of invalid) expect(make(call, { [option]: value })).toThrow(misconfigured(option, says));
});

const needs = "isMerchantReference needs colonIn, and colonIn: 'internal_reference' needs it.";
const named = (option: string, redirectDefaults: unknown): [string, string, object] => [
  option,
  'redirectDefaults',
  { redirectDefaults },
];
test.each<[option: string, problem: string, ...options: object[]]>([
  ['isMerchantReference', needs, { colonIn: 'internal_reference' }, { isMerchantReference: () => true }],
  [
    ...(['isMerchantReference', 'isMerchantReference must be a function'] as const),
    { colonIn: 'internal_reference', isMerchantReference: /^O/ },
  ],
  ['amount', 'redirectFields', { redirectFields: { amount: 'a' } }],
  ['redirectFields.event', 'a non-empty string', ...['', 5].map((event) => ({ redirectFields: { event } }))],
  ['redirectFields', '"x" to two fields', { redirectFields: { event: 'x', transaction_type: 'x' } }],
  ['redirectFields', 'maps "id" to two fields', { redirectFields: { event: 'id' } }],
  named('merchant_reference', { merchant_reference: 'ORD-1' }),
  named('hmac_signature', { hmac_signature: 'x' }),
  named('redirectDefaults.event', { event: '' }),
  named('redirectDefaults.event', { event: 5 }),
  named('redirectDefaults.transaction_type', { transaction_type: '\ud800' }),
  named('redirectDefaults', null),
  named('redirectDefaults', 'COLLECTION'),
])('threat A32: createVerifier() refuses the option %s, with %s: %j', (option, problem, ...wrong) => {
  for (const options of wrong)
    expect(make(VERIFIER, options)).toThrow(misconfigured(option, expect.stringContaining(problem)));
});

test('every receiver checks its signing key, and that there are options', () => {
  for (const call of [CALLBACKS, REDIRECTS]) {
    expect(make(call, { signingKey: undefined })).toThrow(misconfigured('signingKey'));
    for (const options of [undefined, null, 'key'])
      expect(() => Reflect.apply(MAKERS[call], undefined, [options])).toThrow(ConfigurationError);
  }
});

test.each([
  { failureStatus: 400 },
  { failureStatus: 599 },
  { bodyTimeoutMs: 1 },
  { handlerTimeoutMs: 2 ** 31 - 1 },
])('the options %o of a callback route are accepted', (options) =>
  expect(make(CALLBACKS, options)).not.toThrow(),
);

const toleranceSecs = /\(\) does not know the option "toleranceSecs". Did you mean "toleranceSeconds"\?/;
test.each<[Call, options: object, message: RegExp]>([
  ...([VERIFIER, CALLBACKS, REDIRECTS] as const).map((call): [Call, object, RegExp] => [
    call,
    { toleranceSecs: 30 },
    toleranceSecs,
  ]),
  [CALLBACKS, { oncallback: () => undefined }, /"oncallback".*"onCallback"/],
  [REDIRECTS, { onredirect: () => '/' }, /"onredirect".*"onRedirect"/],
  [CALLBACKS, { onRedirect: () => '/thanks' }, /"onRedirect"/],
  [REDIRECTS, { onCallback: () => undefined }, /"onCallback"/],
  [VERIFIER, { onRefused: () => undefined }, /"onRefused"/],
  [VERIFIER, { redirectFields: { evnt: 'x' } }, /does not know the option "evnt"/],
  [VERIFIER, { redirectDefaults: { evnt: 'x' } }, /does not know the option "evnt"/],
])('%s refuses a typo, and an option of another route: %o', (call, options, message) => {
  expect(make(call, options)).toThrow(message);
});

test('every option of the three is known, and undefined counts as left out', () => {
  const of = (names: string) => Object.fromEntries(names.split(/\s+/).map((name) => [name, undefined]));
  const verifier =
    of(`toleranceSeconds colonIn isMerchantReference redirectFields redirectDefaults account publicKey
    secretKey allowSandboxKeys now`);
  const shared = { ...verifier, ...of('onRefused onError failureStatus handlerTimeoutMs') };
  const callbacks = of('onCallback onAuthenticRefusal bodyTimeoutMs methods');
  expect(make(VERIFIER, verifier)).not.toThrow();
  expect(make(CALLBACKS, { ...shared, ...callbacks })).not.toThrow();
  expect(make(REDIRECTS, { ...shared, ...of('onRedirect refusedLocation') })).not.toThrow();
});
