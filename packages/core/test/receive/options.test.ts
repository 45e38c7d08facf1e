import { describe, expect, test } from 'vitest';
import { ConfigurationError, createVerifier } from '../../src/index.ts';
import {
  type CallbackOptions,
  createCallbackReceiver,
  createRedirectReceiver,
  type RedirectOptions,
} from '../../src/receive/index.ts';
import { SIGNING_KEY as signingKey } from '../signed-callbacks.ts';

const MILLISECONDS = 'a number of milliseconds above 0';
const SHAPES: Readonly<Record<string, string>> = {
  onCallback: 'a function',
  onAuthenticRefusal: 'a function',
  onRefused: 'a function',
  onError: 'a function',
  onRedirect: 'a function',
  failureStatus: 'an HTTP status from 400 to 599',
  methods: 'a list of POST, PUT or PATCH, the methods that carry a body',
  bodyTimeoutMs: MILLISECONDS,
  handlerTimeoutMs: MILLISECONDS,
  toleranceSeconds: 'a number of seconds above 0',
  colonIn: 'merchant_reference or internal_reference',
  refusedLocation: 'an address',
};

/** The error of construction for an invalid value. */
const refusalOf = (option: string) =>
  expect.objectContaining({
    code: 'invalid_configuration',
    option,
    message: expect.stringContaining(
      option in SHAPES ? `${option} must be ${SHAPES[option]}, or be left out.` : option,
    ),
  });

describe('options of a receiver', () => {
  test.each([
    ['signingKey', { signingKey: undefined }],
    ['onCallback', { onCallback: 'handler' }],
    ['onAuthenticRefusal', { onAuthenticRefusal: [] }],
    ['onRefused', { onRefused: true }],
    ['onError', { onError: {} }],
    ['failureStatus', { failureStatus: 200 }],
    ['failureStatus', { failureStatus: 399 }],
    ['failureStatus', { failureStatus: 600 }],
    ['failureStatus', { failureStatus: 429.5 }],
    ['failureStatus', { failureStatus: '500' }],
    ['methods', { methods: [] }],
    ['methods', { methods: 'POST' }],
    ['methods', { methods: ['post'] }],
    ...['GET', 'HEAD', 'OPTIONS', 'DELETE'].map((method): [string, object] => [
      'methods',
      { methods: ['POST', method] },
    ]),
    ['bodyTimeoutMs', { bodyTimeoutMs: 0 }],
    ['bodyTimeoutMs', { bodyTimeoutMs: 2 ** 31 }],
    ['handlerTimeoutMs', { handlerTimeoutMs: 0 }],
    ['handlerTimeoutMs', { handlerTimeoutMs: Number.NaN }],
    ['handlerTimeoutMs', { handlerTimeoutMs: 2 ** 31 }],
    ['handlerTimeoutMs', { handlerTimeoutMs: '5000' }],
    ['toleranceSeconds', { toleranceSeconds: -1 }],
    ['colonIn', { colonIn: 'event' }],
  ])('an invalid %s of a callback route is refused: %o', (option, invalid) => {
    const options = { signingKey, ...invalid } as CallbackOptions;
    expect(() => createCallbackReceiver(options)).toThrow(refusalOf(option));
  });

  test.each([
    { failureStatus: 400 },
    { failureStatus: 599 },
    { bodyTimeoutMs: 1 },
    { handlerTimeoutMs: 2 ** 31 - 1 },
  ])('the options %o of a callback route are accepted', (options) =>
    expect(() => createCallbackReceiver({ signingKey, ...options })).not.toThrow(),
  );

  test.each([
    ['refusedLocation', { refusedLocation: '' }],
    ['refusedLocation', { refusedLocation: '/two words' }],
    ['onRedirect', { onRedirect: '/thanks' }],
    ['handlerTimeoutMs', { handlerTimeoutMs: -1 }],
  ])('an invalid %s of a redirect route is refused: %o', (option, invalid) => {
    const options = { signingKey, ...invalid } as unknown as RedirectOptions;
    expect(() => createRedirectReceiver(options)).toThrow(refusalOf(option));
  });

  test.each([undefined, null, 'key'])('the options %s are refused', (options) => {
    const refusal = expect.objectContaining({ code: 'invalid_configuration' });
    expect(() => createCallbackReceiver(options as unknown as CallbackOptions)).toThrow(refusal);
    expect(() => createRedirectReceiver(options as unknown as RedirectOptions)).toThrow(refusal);
  });
});

describe('unknown options', () => {
  const makers = [
    ['createVerifier()', createVerifier],
    ['paymentCallbacks()', createCallbackReceiver],
    ['paymentRedirects()', createRedirectReceiver],
  ] as const;

  test.each(makers)('%s refuses an option that it does not know, and names the closest one', (call, make) => {
    const options = { signingKey, toleranceSecs: 30 };
    const message = `${call} does not know the option "toleranceSecs". Did you mean "toleranceSeconds"?`;
    expect(() => make(options)).toThrow(new ConfigurationError('toleranceSecs', message));
  });

  test('a typo in the name of a handler does not silently turn it into pass-through', () => {
    expect(() =>
      createCallbackReceiver({ signingKey, oncallback: () => undefined } as CallbackOptions),
    ).toThrow(/"oncallback".*"onCallback"/);
    expect(() => createRedirectReceiver({ signingKey, onredirect: () => '/' } as RedirectOptions)).toThrow(
      /"onredirect".*"onRedirect"/,
    );
  });

  test('an option of one route is unknown to the other, and to the verifier', () => {
    const onRedirect = (): string => '/thanks';
    const onCallback = (): undefined => undefined;
    expect(() => createCallbackReceiver({ signingKey, onRedirect } as CallbackOptions)).toThrow(
      /"onRedirect"/,
    );
    expect(() => createRedirectReceiver({ signingKey, onCallback } as RedirectOptions)).toThrow(
      /"onCallback"/,
    );
    expect(() => createVerifier({ signingKey, onRefused: onCallback } as { signingKey: string })).toThrow(
      /"onRefused"/,
    );
  });

  test('every option of the three is known, and undefined counts as left out', () => {
    const verifier = {
      signingKey,
      toleranceSeconds: undefined,
      colonIn: undefined,
      isMerchantReference: undefined,
      redirectFields: undefined,
      redirectDefaults: undefined,
      account: undefined,
      publicKey: undefined,
      secretKey: undefined,
      allowSandboxKeys: undefined,
      now: undefined,
    };
    const shared = {
      ...verifier,
      onRefused: undefined,
      onError: undefined,
      failureStatus: undefined,
      handlerTimeoutMs: undefined,
    };
    expect(() => createVerifier(verifier)).not.toThrow();
    expect(() =>
      createCallbackReceiver({
        ...shared,
        onCallback: undefined,
        onAuthenticRefusal: undefined,
        bodyTimeoutMs: undefined,
      }),
    ).not.toThrow();
    expect(() =>
      createRedirectReceiver({ ...shared, onRedirect: undefined, refusedLocation: undefined }),
    ).not.toThrow();
  });

  test.each(['redirectFields', 'redirectDefaults'])('%s refuses a name that it does not know', (option) => {
    const options = { signingKey, [option]: { evnt: 'x' } };
    expect(() => createVerifier(options)).toThrow(/does not know the option "evnt"/);
  });
});
