import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyText, claimedAmounts, unsignedFields } from '../../src/index.ts';
import { callbackData } from '../signed-callbacks.ts';
import { accepted, verify } from '../verify.ts';

// Middleware between a body parser and the handler can change the parsed body after its verification.

type Callback = Parameters<typeof bodyText>[0];

/** Everything that a program can read from a result. */
function view(callback: Callback): string {
  const { unsigned, raw } = callback;
  return JSON.stringify([unsigned, raw, bodyText(callback), claimedAmounts(callback)]);
}

function callbackOf(body: unknown): Callback {
  return accepted(verify(body)) as Callback;
}

/** Changes every value of an object, at every depth, like a sanitiser, and adds one. */
function sanitise(value: object): void {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'object' && inner !== null) sanitise(inner);
    Reflect.set(value, name, 'changed');
  }
  Reflect.set(value, 'added', 'added');
}

const extra = fc.dictionary(fc.string(), fc.jsonValue());

test('threat A48: a parsed body that can no longer be copied verifies without claims', () => {
  const ownKeys = (): never => {
    throw new Error('revoked');
  };
  const body = new Proxy(callbackData(), { ownKeys });
  const { unsigned, raw } = callbackOf(body);
  expect([{ ...unsigned }, raw]).toEqual([{}, {}]);
});

test('threat A48: a value of a parsed body that JSON cannot write is kept', () => {
  const payload = { id: 10n, extra: Number.NaN };
  expect(callbackOf(callbackData(payload)).raw).toMatchObject({ payload });
});

test('threat A48: the stored string of a parsed body is a string, even where JSON would write nothing', () => {
  for (const results of [[undefined], [1n, undefined]])
    expect(bodyText(callbackOf({ ...callbackData(), toJSON: () => results.shift() }))).toBe('');
});

test('threat A48: no later change of the parsed body changes what the handler reads or stores', () => {
  fc.assert(
    fc.property(extra, extra, (top, inner) => {
      const given = { ...top, ...callbackData() };
      Object.assign(given.payload, { ...inner, ...given.payload });
      const body: object = JSON.parse(JSON.stringify(given));
      const untouched = view(callbackOf(JSON.parse(JSON.stringify(body))));
      const callback = callbackOf(body);
      sanitise(body);
      expect(view(callback)).toBe(untouched);
    }),
  );
});

test('control: a sanitiser that runs before the verification is seen', () => {
  const body = callbackData();
  const untouched = view(callbackOf(callbackData()));
  body.payload['request_amount'] = 5_000_000;
  expect(view(callbackOf(body))).not.toBe(untouched);
});

test.each([
  ['bytes', Buffer.from(JSON.stringify(callbackData({ extra: { deep: [1] } })))],
  ['a string', JSON.stringify(callbackData({ extra: { deep: [1] } }))],
  ['a parsed body', callbackData({ extra: { deep: [1] } })],
])('threat A48: a handler that writes to raw of %s changes nothing', (_, body) => {
  const callback = callbackOf(body);
  const untouched = view(callbackOf(body));
  const payload = Object(callback.raw['payload']);
  for (const object of [callback.raw, payload, payload.extra])
    expect(Reflect.set(object, 'request_amount', 5_000_000)).toBe(false);
  expect(view(callback)).toBe(untouched);
});

test('threat A18: a body that cannot be written as JSON keeps every field that is not nested', () => {
  const body = callbackData({ note: 'kept', id: 9007199254740993n, deep: nested(20_000) });
  const text = bodyText(callbackOf(body));
  expect(JSON.parse(text)).toMatchObject({ payload: { note: 'kept', id: '9007199254740993' } });
  expect(unsignedFields(text).request_amount).toBe(500);
});

test('a nested value of a body that no parser had read is kept, even if JSON cannot write it', () => {
  const deep = '['.repeat(20_000) + ']'.repeat(20_000);
  const text = JSON.stringify(callbackData({ deep: 0 })).replace('"deep":0', `"deep":${deep}`);
  expect(callbackOf(text).raw).toHaveProperty('payload.deep.0.0');
});

test.each([
  ['numbers with an exponent', () => Array.from({ length: 10_000 }, () => 1e20)],
  ['lone surrogates', () => '\ud800'.repeat(20_000)],
])(
  'a parsed body that serialises to more than 64 KiB, of %s, is stored as the fields of the contract',
  (_, filler) => {
    const text = bodyText(callbackOf(callbackData({ filler: filler() })));
    expect(JSON.parse(text)).toEqual(callbackData());
    expect(text.length).toBeLessThan(64 * 1024);
  },
);

test('a parsed body of 64 KiB is stored in full', () => {
  const length = 64 * 1024 - JSON.stringify(callbackData({ filler: '' })).length;
  const body = callbackData({ filler: 'x'.repeat(length) });
  expect(bodyText(callbackOf(body))).toBe(JSON.stringify(body));
});

test('a stored string that is not a callback has no unsigned fields', () => {
  for (const text of ['', 'not JSON', '[]', '{"payload":[]}'])
    expect(Object.keys(unsignedFields(text))).toEqual([]);
});

test('the JSON text of an unread body is stored unchanged, however long it is', () => {
  const text = JSON.stringify(callbackData({ filler: 'x'.repeat(100_000) }));
  const odd = text.replace('"request_amount":500', '"request_amount":5.00e+2 ,\n"extra":"\\u0000"');
  expect(bodyText(callbackOf(odd))).toBe(odd);
});

function nested(depth: number): object {
  let value: object = {};
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}
