import { describe, expect, test } from 'vitest';
import { ConfigurationError, confirmAmount, type VerifiedCallback } from '../../src/index.ts';
import { accepted } from '../accepted.ts';
import { verifier } from '../ordinary-verifier.ts';
import { callbackData, QUERY, SIGNATURE } from '../signed-callbacks.ts';

// Decision D3, beside the vectors of the contract: the kinds of results, in the types too.

describe('decision D3: a redirect carries the same signature, and is another type that credits nothing', () => {
  // In each test, not once for the group: a refusal must fail tests, not the collection of the file.
  const both = () => ({
    redirect: accepted(verifier.verifyRedirect(QUERY)),
    callback: accepted(verifier.verifyCallback({ signature: SIGNATURE, body: callbackData() })),
  });

  test('both verify with one signature, and each names its channel', () => {
    const { redirect, callback } = both();
    expect([callback.kind, redirect.kind]).toEqual(['callback', 'redirect']);
    expect(redirect.transitionId).toBe(callback.transitionId);
  });

  test('confirmAmount() refuses a redirect, a copy and a hand-made object', () => {
    const { redirect, callback } = both();
    const expected = { currency: 'UGX', amount: 500 };
    // @ts-expect-error a redirect is not a callback, in the types either
    expect(() => confirmAmount(redirect, expected)).toThrow(ConfigurationError);
    // A copy has the type of a callback, and still proves nothing.
    expect(() => confirmAmount({ ...callback }, expected)).toThrow(ConfigurationError);
    const forged: VerifiedCallback = Object.create(
      Object.getPrototypeOf(callback),
      Object.getOwnPropertyDescriptors(callback),
    );
    expect(() => confirmAmount(forged, expected)).toThrow(ConfigurationError);
    expect(confirmAmount(callback, expected)).toEqual({ ok: true });
  });
});
