import { describe, expect, test } from 'vitest';
import {
  ConfigurationError,
  confirmAmount,
  createVerifier,
  type ExpectedAmount,
  type VerifiedCallback,
} from '../src/index.ts';
import { sampleCallback, signCallback } from '../src/testing.ts';

const signingKey = 'KEY-FOR-AMOUNTS-1';
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

describe('confirmAmount()', () => {
  test.each(['500', '500.00', 500, 500n, '5e2'])(
    'the amount 500 is confirmed when it is expected as %s',
    (amount) => {
      expect(confirmAmount(verify(sampleCallback()), { currency: 'UGX', amount })).toEqual({ ok: true });
    },
  );

  test.each(['500', '500.0', '5E+2', '500.000000000000000000000'])(
    'the amount 500 is confirmed when the body has %s',
    (literal) => {
      expect(confirmAmount(verify(withAmount(literal)), expected)).toEqual({ ok: true });
    },
  );

  test('threat A2: a callback with a changed amount verifies, and its amount is not confirmed', () => {
    const forged = sampleCallback({ payload: { transaction_amount: 5_000_000 } });
    expect(confirmAmount(verify(forged), expected)).toEqual({
      ok: false,
      mismatches: [{ field: 'transaction_amount', reason: 'different' }],
    });
  });

  test('threat A2: a callback with a changed currency verifies, and its amount is not confirmed', () => {
    const forged = sampleCallback({ payload: { request_currency: 'KES', transaction_currency: 'ugx' } });
    expect(confirmAmount(verify(forged), expected)).toEqual({
      ok: false,
      mismatches: [
        { field: 'request_currency', reason: 'different' },
        { field: 'transaction_currency', reason: 'different' },
      ],
    });
  });

  test.each(['500.000000000000000000001', '499.9999999999999999999'])(
    'no amount passes through a float: %s is not 500',
    (literal) => {
      expect(Number(literal)).toBe(500);
      expect(confirmAmount(verify(withAmount(literal)), expected)).toMatchObject({ ok: false });
    },
  );

  test('a large amount is read from the JSON string, where a float would be another amount', () => {
    const callback = verify(withAmount('9007199254740993'));
    expect(confirmAmount(callback, { currency: 'UGX', amount: '9007199254740993' })).toEqual({ ok: true });
    expect(confirmAmount(callback, { currency: 'UGX', amount: '9007199254740992' })).toMatchObject({
      ok: false,
    });
  });

  test('an amount that a body parser has rounded is inexact', () => {
    const callback = verify(JSON.parse(withAmount('9007199254740993')));
    expect(confirmAmount(callback, { currency: 'UGX', amount: '9007199254740993' })).toMatchObject({
      mismatches: [{ reason: 'inexact' }, { reason: 'inexact' }],
    });
  });

  test('an amount outside of the payload is ignored', () => {
    const body = JSON.stringify({
      ...sampleCallback({ payload: { request_amount: 7 } }),
      request_amount: 500,
    });
    const nested = sampleCallback({ payload: { request_amount: 7, extra: { request_amount: 500 } } });
    for (const forged of [body, JSON.stringify(nested)]) {
      expect(confirmAmount(verify(forged), { ...expected, compare: 'request' })).toMatchObject({ ok: false });
    }
  });

  test.each([
    ['undefined', undefined],
    ['a string', '500'],
    ['null', null],
  ])('an amount that is %s counts as missing', (_, value) => {
    const callback = verify(sampleCallback({ payload: { request_amount: value as never } }));
    expect(confirmAmount(callback, expected)).toMatchObject({
      mismatches: [{ field: 'request_amount', reason: 'missing' }],
    });
  });

  test('a currency that is not there counts as missing', () => {
    const callback = verify(sampleCallback({ payload: { request_currency: undefined as never } }));
    expect(confirmAmount(callback, expected)).toMatchObject({
      mismatches: [{ field: 'request_currency', reason: 'missing' }],
    });
  });

  test('a failed transaction confirms no amount', () => {
    const failed = sampleCallback({ payload: { transaction_status: 'FAILED' } });
    expect(confirmAmount(verify(failed, failed), expected)).toEqual({
      ok: false,
      mismatches: [{ field: 'transaction_status', reason: 'different' }],
    });
  });

  test('a completed payout confirms no amount, unless a payout is expected', () => {
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

  test('only the side that compare names is compared', () => {
    const converted = verify(
      sampleCallback({ payload: { transaction_currency: 'KES', transaction_amount: 18 } }),
    );
    expect(confirmAmount(converted, expected)).toMatchObject({ ok: false });
    expect(confirmAmount(converted, { ...expected, compare: 'request' })).toEqual({ ok: true });
    expect(confirmAmount(converted, { currency: 'KES', amount: 18, compare: 'transaction' })).toEqual({
      ok: true,
    });
  });

  test('threat A4: a redirect and a copy are refused', () => {
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
      const check = () => confirmAmount(value as VerifiedCallback, expected);
      expect(check).toThrow(ConfigurationError);
      expect(check).toThrow(/^confirmAmount\(\) (accepts only|does not accept)/);
    }
  });

  test.each([
    [{ currency: 'UGX', amount: 0.1 + 0.2 }, 'amount'],
    [{ currency: 'UGX', amount: 'five' }, 'amount'],
    [{ currency: 'UGX', amount: ['5'] }, 'amount'],
    [{ currency: 'UGX', amount: undefined }, 'amount'],
    [{ currency: '', amount: 5 }, 'currency'],
    [{ currency: undefined, amount: 5 }, 'currency'],
    [{ currency: 'UGX', amount: 5, compare: 'none' }, 'compare'],
  ] as const)('the expectation %j is refused', (expectation, option) => {
    const message = {
      amount:
        'The expected amount must be a decimal string such as "1999.90", a bigint, or a number of at most 15 digits.',
      currency: 'The expected currency must be a currency code, such as "UGX".',
      compare: "compare must be 'both', 'request' or 'transaction', or be left out.",
    }[option];
    expect(() => confirmAmount(verify(sampleCallback()), expectation as unknown as ExpectedAmount)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', option, message }),
    );
  });
});
