import { describe, expect, test } from 'vitest';
import { ConfigurationError, createVerifier } from '../../src/index.ts';
import {
  type CallbackOptions,
  createCallbackReceiver,
  createRedirectReceiver,
  type RedirectOptions,
} from '../../src/receive/index.ts';
import { SIGNING_KEY as signingKey } from '../signed-callbacks.ts';

describe('options of a receiver', () => {
  test.each([
    ['signingKey', {}],
    ['signingKey', undefined],
    ['signingKey', null],
    ['onCallback', { signingKey, onCallback: 'handler' }],
    ['onAuthenticRefusal', { signingKey, onAuthenticRefusal: [] }],
    ['onRefused', { signingKey, onRefused: true }],
    ['onError', { signingKey, onError: {} }],
    ['failureStatus', { signingKey, failureStatus: 200 }],
    ['failureStatus', { signingKey, failureStatus: 399 }],
    ['failureStatus', { signingKey, failureStatus: 600 }],
    ['failureStatus', { signingKey, failureStatus: 429.5 }],
    ['failureStatus', { signingKey, failureStatus: '500' }],
    ['bodyTimeoutMs', { signingKey, bodyTimeoutMs: 0 }],
    ['bodyTimeoutMs', { signingKey, bodyTimeoutMs: Number.POSITIVE_INFINITY }],
    ['handlerTimeoutMs', { signingKey, handlerTimeoutMs: 0 }],
    ['handlerTimeoutMs', { signingKey, handlerTimeoutMs: Number.NaN }],
    ['handlerTimeoutMs', { signingKey, handlerTimeoutMs: 2 ** 31 }],
    ['handlerTimeoutMs', { signingKey, handlerTimeoutMs: '5000' }],
    ['toleranceSeconds', { signingKey, toleranceSeconds: -1 }],
    ['colonIn', { signingKey, colonIn: 'event' }],
  ])('an invalid %s is refused at construction: %j', (option, options) => {
    expect(() => createCallbackReceiver(options as unknown as CallbackOptions)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', option }),
    );
  });

  test.each([
    ['refusedLocation', { signingKey, refusedLocation: '' }],
    ['refusedLocation', { signingKey, refusedLocation: '/two words' }],
    ['onRedirect', { signingKey, onRedirect: '/thanks' }],
    ['handlerTimeoutMs', { signingKey, handlerTimeoutMs: -1 }],
  ])('an invalid %s of a redirect route is refused at construction: %j', (option, options) => {
    expect(() => createRedirectReceiver(options as unknown as RedirectOptions)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', option }),
    );
  });
});

describe('unknown options', () => {
  const makers = [
    ['createVerifier()', createVerifier],
    ['paymentCallbacks()', createCallbackReceiver],
    ['paymentRedirects()', createRedirectReceiver],
  ] as const;

  test.each(makers)('%s refuses an option that it does not know, and names the closest one', (call, make) => {
    const options = { signingKey, tolleranceSeconds: 30 };
    const message = `${call} does not know the option "tolleranceSeconds". Did you mean "toleranceSeconds"?`;
    expect(() => make(options)).toThrow(new ConfigurationError('tolleranceSeconds', message));
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
