import { describe, expect, it } from 'vitest';
import {
  ConfigurationError,
  confirmAmount,
  createVerifier,
  type ExpectedAmount,
  type VerifiedCallback,
} from '../src/index.ts';
import { sampleCallback, signCallback } from '../src/testing.ts';

const signingKey = 'KEY-FOR-AMOUNTS';
const verifier = createVerifier({ signingKey });
const expected: ExpectedAmount = { currency: 'UGX', amount: '500' };

function verify(body: string | object, data = sampleCallback()): VerifiedCallback {
  const result = verifier.verifyCallback({ signature: signCallback({ signingKey, data }), body });
  if (!result.ok) throw new Error(result.code);
  return result;
}

/** The sample's JSON text with both amounts written as given. */
function withAmount(literal: string): string {
  return JSON.stringify(sampleCallback()).replace(/("(?:request|transaction)_amount":)500/g, `$1${literal}`);
}

describe('confirmAmount', () => {
  it.each(['500', '500.00', 500, 500n, '5e2'])('confirms the amount expected as %s', (amount) => {
    expect(confirmAmount(verify(sampleCallback()), { currency: 'UGX', amount })).toEqual({ ok: true });
  });

  it.each(['500', '500.0', '5E+2', '500.000000000000000000000'])('confirms 500 written as %s', (literal) => {
    expect(confirmAmount(verify(withAmount(literal)), expected)).toEqual({ ok: true });
  });

  it('threat A2: a changed amount verifies, and is not confirmed', () => {
    const forged = sampleCallback({ payload: { transaction_amount: 5_000_000 } });
    expect(confirmAmount(verify(forged), expected)).toEqual({
      ok: false,
      mismatches: [{ field: 'transaction_amount', reason: 'different' }],
    });
  });

  it('threat A2: so does a changed currency', () => {
    const forged = sampleCallback({ payload: { request_currency: 'KES', transaction_currency: 'ugx' } });
    expect(confirmAmount(verify(forged), expected)).toEqual({
      ok: false,
      mismatches: [
        { field: 'request_currency', reason: 'different' },
        { field: 'transaction_currency', reason: 'different' },
      ],
    });
  });

  it.each(['500.000000000000000000001', '499.9999999999999999999'])(
    'never goes through a float: %s is not 500',
    (literal) => {
      expect(Number(literal)).toBe(500);
      expect(confirmAmount(verify(withAmount(literal)), expected)).toMatchObject({ ok: false });
    },
  );

  it('reads large amounts from the text: floats would confuse them', () => {
    const callback = verify(withAmount('9007199254740993'));
    expect(confirmAmount(callback, { currency: 'UGX', amount: '9007199254740993' })).toEqual({ ok: true });
    expect(confirmAmount(callback, { currency: 'UGX', amount: '9007199254740992' })).toMatchObject({
      ok: false,
    });
  });

  it('says inexact where a body parser has already rounded', () => {
    const callback = verify(JSON.parse(withAmount('9007199254740993')));
    expect(confirmAmount(callback, { currency: 'UGX', amount: '9007199254740993' })).toMatchObject({
      mismatches: [{ reason: 'inexact' }, { reason: 'inexact' }],
    });
  });

  it('does not take an amount from elsewhere in the body', () => {
    const body = JSON.stringify({
      ...sampleCallback({ payload: { request_amount: 7 } }),
      request_amount: 500,
    });
    const nested = sampleCallback({ payload: { request_amount: 7, extra: { request_amount: 500 } } });
    for (const forged of [body, JSON.stringify(nested)]) {
      expect(confirmAmount(verify(forged), { ...expected, compare: 'request' })).toMatchObject({ ok: false });
    }
  });

  it.each([
    ['missing', undefined],
    ['text', '500'],
    ['null', null],
  ])('an amount that is %s is missing', (_, value) => {
    const callback = verify(sampleCallback({ payload: { request_amount: value as never } }));
    expect(confirmAmount(callback, expected)).toMatchObject({
      mismatches: [{ field: 'request_amount', reason: 'missing' }],
    });
  });

  it('another outcome confirms nothing', () => {
    const failed = sampleCallback({ payload: { transaction_status: 'FAILED' } });
    expect(confirmAmount(verify(failed, failed), expected)).toEqual({
      ok: false,
      mismatches: [{ field: 'transaction_status', reason: 'different' }],
    });
  });

  it('a completed payout under the same reference pays nothing, unless a payout is expected', () => {
    const payout = sampleCallback({ payload: { transaction_type: 'PAYOUT' } });
    expect(confirmAmount(verify(payout, payout), expected)).toEqual({
      ok: false,
      mismatches: [{ field: 'transaction_type', reason: 'different' }],
    });
    expect(confirmAmount(verify(payout, payout), { ...expected, transaction_type: 'PAYOUT' })).toEqual({
      ok: true,
    });
    expect(confirmAmount(verify(sampleCallback()), { ...expected, transaction_type: 'PAYOUT' }).ok).toBe(
      false,
    );
  });

  it('compares one side only when asked to', () => {
    const converted = verify(
      sampleCallback({ payload: { transaction_currency: 'KES', transaction_amount: 18 } }),
    );
    expect(confirmAmount(converted, expected)).toMatchObject({ ok: false });
    expect(confirmAmount(converted, { ...expected, compare: 'request' })).toEqual({ ok: true });
    expect(confirmAmount(converted, { currency: 'KES', amount: 18, compare: 'transaction' })).toEqual({
      ok: true,
    });
  });

  it('threat A4: takes neither a redirect nor a copy', () => {
    const data = sampleCallback();
    const query = new URLSearchParams({
      event: data.event,
      hmac_signature: signCallback({ signingKey, data }),
    });
    for (const [name, value] of Object.entries(data.payload)) query.set(name, String(value));
    const redirect = verifier.verifyRedirect(query.toString());
    expect(redirect.ok).toBe(true);
    const callback = verify(data);
    for (const value of [redirect, { ...callback }, structuredClone({ ...callback }), data, null]) {
      expect(() => confirmAmount(value as VerifiedCallback, expected)).toThrow(ConfigurationError);
    }
  });

  it.each([
    [{ currency: 'UGX', amount: 0.1 + 0.2 }, 'amount'],
    [{ currency: 'UGX', amount: 'five' }, 'amount'],
    [{ currency: 'UGX', amount: undefined }, 'amount'],
    [{ currency: '', amount: 5 }, 'currency'],
    [{ currency: undefined, amount: 5 }, 'currency'],
    [{ currency: 'UGX', amount: 5, compare: 'none' }, 'compare'],
  ])('refuses the expectation %j', (expectation, option) => {
    expect(() => confirmAmount(verify(sampleCallback()), expectation as ExpectedAmount)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', option }),
    );
  });
});
