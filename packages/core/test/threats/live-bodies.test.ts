import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyText, type VerifiedCallback } from '../../src/index.ts';
import { claimedAmounts } from '../../src/money/amounts.ts';
import { unsignedFields } from '../../src/verify/verified.ts';
import { callbackData } from '../signed-callbacks.ts';
import { accepted, verify } from '../verify.ts';

// Middleware between a body parser and the handler can change the parsed body after its verification.

const callbackOf = (body: unknown): VerifiedCallback => accepted(verify(body));
const textOf = (body: unknown): string => bodyText(callbackOf(body));

/** Everything that a program can read from a result. */
function view(callback: VerifiedCallback): string {
  const { unsigned, raw } = callback;
  return JSON.stringify([unsigned, raw, bodyText(callback), claimedAmounts(callback)]);
}

/** Changes every value of an object, at every depth, like a sanitiser, and adds one. */
function sanitise(value: object): void {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'object' && inner !== null) sanitise(inner);
    Reflect.set(value, name, 'changed');
  }
  Reflect.set(value, 'added', 'added');
}

test('threat A48: a parsed body that can no longer be copied verifies without claims', () => {
  const ownKeys = (): never => {
    throw new Error('revoked');
  };
  const { unsigned, raw } = callbackOf(new Proxy(callbackData(), { ownKeys }));
  expect([{ ...unsigned }, raw]).toEqual([{}, {}]);
});

test('threat A48: no later change of the parsed body changes what the handler reads or stores', () => {
  const extra = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(extra, extra, (top, inner) => {
      const { event, payload } = callbackData();
      const text = JSON.stringify({ ...top, event, payload: { ...payload, ...inner, ...payload } });
      const untouched = view(callbackOf(JSON.parse(text)));
      const body: object = JSON.parse(text);
      const callback = callbackOf(body);
      sanitise(body);
      expect(view(callback)).toBe(untouched);
    }),
  );
});

const withExtra = callbackData({ extra: { deep: [1] } });
test.each([
  ['bytes', Buffer.from(JSON.stringify(withExtra))],
  ['a string', JSON.stringify(withExtra)],
  ['a parsed body', withExtra],
])('threat A48: a handler that writes to raw of %s changes nothing', (_, body) => {
  const callback = callbackOf(body);
  const payload = Object(callback.raw['payload']);
  for (const object of [callback.raw, payload, payload.extra])
    expect(Reflect.set(object, 'request_amount', 5_000_000)).toBe(false);
  expect(view(callback)).toBe(view(callbackOf(body)));
});

const BIG = 9007199254740993n;
const TOO_DEEP = Array.from({ length: 20_000 }).reduce<object>((value) => ({ value }), {});
const whole = callbackData({ filler: '' });
whole.payload['filler'] = 'x'.repeat(64 * 1024 - JSON.stringify(whole).length);
test.each<[what: string, body: { payload: object }, kept: object]>([
  [
    'that JSON cannot write keeps every field that is not nested',
    callbackData({ id: BIG, deep: TOO_DEEP }),
    {},
  ],
  ['of 64 KiB is stored in full', whole, whole],
  [
    'that grows beyond 64 KiB has only the fields of the contract',
    callbackData({ x: Array(10_000).fill(1e20) }),
    callbackData(),
  ],
  [
    'of lone surrogates has only the fields of the contract',
    callbackData({ x: '\ud800'.repeat(20_000) }),
    callbackData(),
  ],
])('threat A18: a parsed body %s', (_, body, kept) => {
  const text = textOf(body);
  const { deep, ...payload } = { deep: undefined, ...body.payload };
  const fields = deep === undefined ? kept : { payload: { ...payload, id: `${BIG}` } };
  expect(JSON.parse(text)).toMatchObject(fields);
  expect(text.length).toBeLessThanOrEqual(64 * 1024);
  expect(unsignedFields(text).request_amount).toBe(500);
  expect(text).not.toMatch(/"x":/);
});

test('the JSON text of an unread body is stored unchanged, however long it is', () => {
  const text = JSON.stringify(callbackData({ filler: 'x'.repeat(100_000) }));
  const odd = text.replace('"request_amount":500', '"request_amount":5.00e+2 ,\n"extra":"\\u0000"');
  expect(textOf(odd)).toBe(odd);
});
