import { describe, expect, test } from 'vitest';
import {
  bodyText,
  claimedAmounts,
  createVerifier,
  type Evidence,
  type VerifiedCallback,
} from '../src/index.ts';
import { sampleCallback, signCallback } from '../src/testing.ts';

const signingKey = 'KEY-FOR-CLAIMS-1';

function verify(body: string | object, data = sampleCallback()): VerifiedCallback | Evidence {
  const result = createVerifier({ signingKey }).verifyCallback({
    signature: signCallback({ signingKey, data }),
    body,
  });
  if (result.ok) return result;
  if (result.authentic) return result.evidence;
  throw new Error(result.code);
}

const text = JSON.stringify(sampleCallback());

describe('claimedAmounts()', () => {
  test.each([
    ['500', '500'],
    ['500.10', '500.1'],
    ['5e2', '500'],
    ['-0.0', '0'],
    ['0.000001', '0.000001'],
    ['9007199254740993', '9007199254740993'],
    ['1e40', '1e40'],
    ['123e-45', '123e-45'],
  ])('the JSON number %s is read as %s', (literal, amount) => {
    const callback = verify(text.replace('"request_amount":500', `"request_amount":${literal}`));
    expect(claimedAmounts(callback).request).toEqual({ currency: 'UGX', amount, isInexact: false });
  });

  const amount = '"request_amount":500';
  test.each([
    ['appears twice, of which the last counts', '"request_amount":7,"request_amount":500'],
    ['also appears in an object before it', '"extra":{"request_amount":7},"request_amount":500'],
    ['also appears in an object after it', '"request_amount":500,"extra":[{"request_amount":7}]'],
    ['is also the value of another field', '"extra":"request_amount","request_amount":500'],
    ['is also the end of a string', '"extra":"\\"request_amount","request_amount":500'],
    ['also appears within a string', '"request_amount":500,"extra":"{\\"request_amount\\":7}"'],
    ['is written with an escape', '"request_amoun\\u0074":500'],
    [
      'is written with an escape, and is the value of another field',
      '"extra":"request_amount","request_amoun\\u0074":500',
    ],
    ['is followed by white space', '"request_amount" \n:\t\r 500 '],
  ])('the amount of the payload is found when its name %s', (_where, literal) => {
    const callback = verify(text.replace(amount, literal));
    expect(callback.unsigned.request_amount).toBe(500);
    expect(claimedAmounts(callback).request.amount).toBe('500');
  });

  test('the amount of the payload is found when its name also appears at the top level', () => {
    const callback = verify(text.replace('{', '{"request_amount":7,'));
    expect(claimedAmounts(callback).request.amount).toBe('500');
  });

  test('a missing amount is undefined, and an amount that a parser has rounded is inexact', () => {
    const data = sampleCallback({
      payload: { request_amount: 2 ** 60, transaction_amount: undefined as never },
    });
    expect(claimedAmounts(verify(data))).toEqual({
      request: { currency: 'UGX', amount: undefined, isInexact: true },
      transaction: { currency: 'UGX', amount: undefined, isInexact: false },
    });
  });

  test('amounts are read from evidence too', () => {
    const data = sampleCallback({ payload: { merchant_reference: 'ORD:1' } });
    expect(claimedAmounts(verify(data, data)).request.amount).toBe('500');
  });

  test('claimedAmounts() refuses a copy', () => {
    expect(() => claimedAmounts({ ...verify(text) } as VerifiedCallback)).toThrow(
      /^claimedAmounts\(\) accepts only the result of verifyCallback\(\)/,
    );
  });
});

describe('bodyText()', () => {
  test('the JSON string of an unread body is returned unchanged', () => {
    const odd = text.replace('"request_amount":500', '"request_amount":5.00e+2 ,\n"extra":"\\u0000"');
    expect(bodyText(verify(odd))).toBe(odd);
  });

  test('a body that a parser has read is serialised again', () => {
    expect(JSON.parse(bodyText(verify(sampleCallback())))).toEqual(sampleCallback());
  });

  test('threat A18: the fields of the contract are kept when the nesting is too deep to serialise', () => {
    const deep = JSON.parse(
      text.replace('"payload":{', `"payload":{"extra":${'['.repeat(30_000)}${']'.repeat(30_000)},`),
    );
    expect(() => JSON.stringify(deep)).toThrow(RangeError);
    expect(JSON.parse(bodyText(verify(deep)))).toEqual(sampleCallback());
  });

  test('bodyText() refuses a copy', () => {
    expect(() => bodyText({ ...verify(text) } as VerifiedCallback)).toThrow(/verifyCallback/);
  });
});
