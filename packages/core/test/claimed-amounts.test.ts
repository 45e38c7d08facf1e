import { describe, expect, it } from 'vitest';
import {
  bodyText,
  claimedAmounts,
  createVerifier,
  type Evidence,
  type VerifiedCallback,
} from '../src/index.ts';
import { sampleCallback, signCallback } from '../src/testing.ts';

const signingKey = 'KEY-FOR-CLAIMS';

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

describe('claimedAmounts', () => {
  it.each([
    ['500', '500'],
    ['500.10', '500.1'],
    ['5e2', '500'],
    ['-0.0', '0'],
    ['0.000001', '0.000001'],
    ['9007199254740993', '9007199254740993'],
    ['1e40', '1e40'],
    ['123e-45', '123e-45'],
  ])('reads %s as %s', (literal, amount) => {
    const callback = verify(text.replace('"request_amount":500', `"request_amount":${literal}`));
    expect(claimedAmounts(callback).request).toEqual({ currency: 'UGX', amount, isInexact: false });
  });

  const amount = '"request_amount":500';
  it.each([
    ['twice: the last one', '"request_amount":7,"request_amount":500'],
    ['in an object before it', '"extra":{"request_amount":7},"request_amount":500'],
    ['in an object behind it', '"request_amount":500,"extra":[{"request_amount":7}]'],
    ['as the text of another field', '"extra":"request_amount","request_amount":500'],
    ['at the end of a text', '"extra":"\\"request_amount","request_amount":500'],
    ['within a text', '"request_amount":500,"extra":"{\\"request_amount\\":7}"'],
    ['in an escape', '"request_amoun\\u0074":500'],
    ['in an escape, and as a text', '"extra":"request_amount","request_amoun\\u0074":500'],
    ['behind white space', '"request_amount" \n:\t\r 500 '],
  ])('finds the one of the payload where its name stands %s', (_where, literal) => {
    const callback = verify(text.replace(amount, literal));
    expect(callback.unsigned.request_amount).toBe(500);
    expect(claimedAmounts(callback).request.amount).toBe('500');
  });

  it('finds the one of the payload where its name stands at the top as well', () => {
    const callback = verify(text.replace('{', '{"request_amount":7,'));
    expect(claimedAmounts(callback).request.amount).toBe('500');
  });

  it('is undefined where there is none, and says where a parser has rounded', () => {
    const data = sampleCallback({
      payload: { request_amount: 2 ** 60, transaction_amount: undefined as never },
    });
    expect(claimedAmounts(verify(data))).toEqual({
      request: { currency: 'UGX', amount: undefined, isInexact: true },
      transaction: { currency: 'UGX', amount: undefined, isInexact: false },
    });
  });

  it('reads evidence too', () => {
    const data = sampleCallback({ payload: { merchant_reference: 'ORD:1' } });
    expect(claimedAmounts(verify(data, data)).request.amount).toBe('500');
  });

  it('refuses a copy', () => {
    expect(() => claimedAmounts({ ...verify(text) } as VerifiedCallback)).toThrow(/verifyCallback/);
  });
});

describe('bodyText', () => {
  it('is the text as it came, to the letter', () => {
    const odd = text.replace('"request_amount":500', '"request_amount":5.00e+2 ,\n"extra":"\\u0000"');
    expect(bodyText(verify(odd))).toBe(odd);
  });

  it('is written anew where a body parser came first', () => {
    expect(JSON.parse(bodyText(verify(sampleCallback())))).toEqual(sampleCallback());
  });

  it('threat A18: keeps the fields of the contract where nesting is too deep to write', () => {
    const deep = JSON.parse(
      text.replace('"payload":{', `"payload":{"extra":${'['.repeat(30_000)}${']'.repeat(30_000)},`),
    );
    expect(() => JSON.stringify(deep)).toThrow(RangeError);
    expect(JSON.parse(bodyText(verify(deep)))).toEqual(sampleCallback());
  });

  it('refuses a copy', () => {
    expect(() => bodyText({ ...verify(text) } as VerifiedCallback)).toThrow(/verifyCallback/);
  });
});
