import { inspect } from 'node:util';
import { beforeAll, expect, test, vi } from 'vitest';
import * as first from '../../src/index.ts';
import { callbackData, QUERY, SIGNATURE, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';

const OPENERS = Symbol.for('@payment-service/core/openers/1');

// An update or a bundle of `import` and `require` can leave two copies of core in one process.

let second: typeof first;
beforeAll(async () => {
  vi.resetModules();
  second = await import('../../src/index.ts');
});

const expected = { currency: 'UGX', amount: 500 };
const text = JSON.stringify(callbackData());

/** The copy that verifies, and the copy that reads. */
const pairs = () =>
  [first, second].flatMap((maker) => [first, second].map((reader) => [maker, reader] as const));

function callbackOf(copy: typeof first): first.VerifiedCallback {
  const verifier = copy.createVerifier({ signingKey: SIGNING_KEY });
  const result = verifier.verifyCallback({ signature: SIGNATURE, body: text });
  if (!result.ok) throw new Error(`Refused: ${result.code}`);
  return result;
}

test('threat A37: control: each copy has its own classes', () => {
  expect(second.ConfigurationError).not.toBe(first.ConfigurationError);
  const [one, other] = [first, second].map((copy) => Object.getPrototypeOf(callbackOf(copy)));
  expect(one).not.toBe(other);
});

test('threat A37: what one copy verified, the other accepts', () => {
  for (const [maker, reader] of pairs()) {
    const callback = callbackOf(maker);
    expect(reader.confirmAmount(callback, expected)).toEqual({ ok: true });
    expect(reader.claimedAmounts(callback).request.amount).toBe('500');
    expect(reader.bodyText(callback)).toBe(text);
    expect(reader.isTransactionCompleted(callback)).toBe(true);
  }
});

test('threat A37: evidence of one copy is readable in the other, and confirms no amount', () => {
  const body = JSON.stringify(callbackData({ merchant_reference: 'A:B' }));
  const verifier = second.createVerifier({ signingKey: SIGNING_KEY });
  const refusal = verifier.verifyCallback({ signature: signatureFor('A:B'), body });
  if (refusal.ok || !refusal.authentic) throw new Error('There is no evidence.');
  expect(first.bodyText(refusal.evidence)).toBe(body);
  expect(() => first.confirmAmount(refusal.evidence as never, expected)).toThrow(/a verified evidence/);
});

test('threat A37: a redirect of one copy is refused in the other', () => {
  const redirect = second.createVerifier({ signingKey: SIGNING_KEY }).verifyRedirect(QUERY);
  expect(redirect.ok).toBe(true);
  const refusal = /does not accept a verified redirect/;
  expect(() => first.confirmAmount(redirect as never, expected)).toThrow(refusal);
});

test('threat A37: what was copied is refused in both copies, with the command that shows two of them', () => {
  const refusal =
    /accepts only the result of verifyCallback\(\), not an Object\. A copy or a parsed body .*npm ls @payment-service\/core/;
  const copied = { ...callbackOf(second) } as never;
  for (const copy of [first, second]) {
    expect(() => copy.confirmAmount(copied, expected)).toThrow(refusal);
    expect(() => copy.bodyText(copied)).toThrow(refusal);
  }
});

test('threat A37: a copy joins the others when it is first used, and loading it changes nothing', async () => {
  callbackOf(first);
  const joined = (): number => Reflect.get(globalThis, OPENERS).length;
  const before = joined();
  vi.resetModules();
  const third: typeof first = await import('../../src/index.ts');
  expect(joined()).toBe(before);
  const callback = callbackOf(third);
  expect([joined(), callbackOf(third).ok]).toEqual([before + 1, true]);
  expect(first.bodyText(callback)).toBe(text);
});

test('threat A37: the objects of a new copy show no personal data, and lead to no constructor', async () => {
  vi.resetModules();
  const callback = callbackOf(await import('../../src/index.ts'));
  expect(inspect(callback)).toContain('[redacted: may hold personal data]');
  expect(callback.constructor).toBe(Object);
});

test('threat A37: JSON cannot write the symbol that the copies share', () => {
  callbackOf(first);
  const [symbol, ...others] = Object.getOwnPropertySymbols(globalThis).filter((found) =>
    String(found).includes('@payment-service/core'),
  );
  expect(others).toEqual([]);
  expect(String(symbol)).toBe('Symbol(@payment-service/core/openers/1)');
  expect(Object.getOwnPropertyDescriptor(globalThis, symbol as symbol)).toMatchObject({
    configurable: false,
    enumerable: false,
    writable: false,
  });
});

let openers: unknown[];
beforeAll(() => {
  callbackOf(first);
  openers = Reflect.get(globalThis, OPENERS);
});
const fail = (): never => {
  throw new Error('not mine');
};
const others = [undefined, null, 1, 'open', {}, [], true];
const broken: [name: string, opener: unknown][] = [
  ...others.map((value): [string, unknown] => [JSON.stringify(value), value]),
  ['a function that throws', fail],
  ['a function that returns true', () => true],
  ['a function that returns an empty object', () => ({})],
  ['a function that returns another kind', () => ({ kind: 'order', text: '{}' })],
  ['a function whose result throws', () => Object.defineProperty({}, 'kind', { get: fail })],
  ['a class', class {}],
];

test.each(broken)('threat A49: %s in front of the others is passed over', (_, opener) => {
  openers.unshift(opener);
  try {
    for (const [maker, reader] of pairs()) {
      const callback = callbackOf(maker);
      expect(reader.confirmAmount(callback, expected)).toEqual({ ok: true });
      expect(reader.bodyText(callback)).toBe(text);
      expect(() => reader.bodyText({ ...callback })).toThrow(/npm ls @payment-service\/core/);
    }
  } finally {
    openers.shift();
  }
});

test('threat A49: control: an opener that lies is believed for what is not genuine, as docs/threats.md says', () => {
  openers.push(() => ({ kind: 'callback', text }));
  try {
    expect(first.bodyText({ ...callbackOf(first) } as never)).toBe(text);
  } finally {
    openers.pop();
  }
});
