import { beforeAll, expect, test, vi } from 'vitest';
import * as first from '../../src/internal.ts';
import { callbackData, QUERY, SIGNATURE, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';

// An update or a bundle of `import` and `require` can leave two copies of core in one process.

type Core = typeof first;
const OPENERS = Symbol.for('@payment-service/core/openers/1');
const expected = { currency: 'UGX', amount: 500 };
const text = JSON.stringify(callbackData());

async function another(): Promise<Core> {
  vi.resetModules();
  return import('../../src/internal.ts');
}

let second: Core;
/** What other code can change: the functions that open what a copy has verified. */
let openers: unknown[];
beforeAll(async () => {
  second = await another();
  callbackOf(first);
  openers = Reflect.get(globalThis, OPENERS);
});

/** The copy that verifies, and the copy that reads. */
const pairs = () =>
  [first, second].flatMap((maker) => [first, second].map((reader) => [maker, reader] as const));

function callbackOf(copy: Core): first.VerifiedCallback {
  const verifier = copy.createVerifier({ signingKey: SIGNING_KEY });
  const result = verifier.verifyCallback({ signature: SIGNATURE, body: text });
  return result.ok ? result : expect.fail(`Refused: ${result.code}`);
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

test('threat A37: evidence of one copy is readable in the other, and confirms no amount, and a redirect is refused', () => {
  const body = JSON.stringify(callbackData({ merchant_reference: 'A:B' }));
  const verifier = second.createVerifier({ signingKey: SIGNING_KEY });
  const refusal = verifier.verifyCallback({ signature: signatureFor('A:B'), body });
  if (refusal.ok || !refusal.authentic) throw new Error('There is no evidence.');
  expect(first.bodyText(refusal.evidence)).toBe(body);
  expect(() => first.confirmAmount(refusal.evidence as never, expected)).toThrow(/a verified evidence/);
  const redirect = verifier.verifyRedirect(QUERY);
  expect(redirect.ok).toBe(true);
  const message = /does not accept a verified redirect/;
  expect(() => first.confirmAmount(redirect as never, expected)).toThrow(message);
});

const fail = (): never => {
  throw new Error('not mine');
};
const others = [undefined, null, 1, 'open', {}, [], true];
test.each<[name: string, opener: unknown]>([
  ...others.map((value): [string, unknown] => [JSON.stringify(value), value]),
  ['a function that throws', fail],
  ['a function that returns true', () => true],
  ['a function that returns an empty object', () => ({})],
  ['a function that returns another kind', () => ({ kind: 'order', text: '{}' })],
  ['a function whose result throws', () => Object.defineProperty({}, 'kind', { get: fail })],
  ['a class', class {}],
])('threat A49: %s that other code has put in front of the openers is passed over', (_, opener) => {
  openers.unshift(opener);
  try {
    for (const [maker, reader] of pairs()) {
      const callback = callbackOf(maker);
      expect(reader.confirmAmount(callback, expected)).toEqual({ ok: true });
      expect(reader.bodyText(callback)).toBe(text);
      expect(() => reader.bodyText({ ...callback })).toThrow(
        /A copy or a parsed body .*npm ls @payment-service\/core/,
      );
    }
  } finally {
    openers.shift();
  }
});
