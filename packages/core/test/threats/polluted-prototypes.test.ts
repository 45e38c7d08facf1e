import { afterEach, expect, test } from 'vitest';
import { confirmAmount, createVerifier } from '../../src/index.ts';
import { claimedAmounts } from '../../src/money/amounts.ts';
import { callbackData, QUERY, SIGNATURE, SIGNING_KEY } from '../signed-callbacks.ts';
import { accepted, misconfigured, verifier, verify } from '../verify.ts';

// Objects that were not verified, and what Object.prototype must not supply.

const polluted = new Set<string>();

function pollute(name: string, value: unknown): void {
  polluted.add(name);
  const attributes = { configurable: true, writable: true, enumerable: true };
  Object.defineProperty(Object.prototype, name, { value, ...attributes });
}

afterEach(() => {
  for (const name of polluted) Reflect.deleteProperty(Object.prototype, name);
  polluted.clear();
});

test('threat A36: an amount on Object.prototype is not an amount of the callback', () => {
  const { request_amount: _, transaction_amount: __, ...payload } = callbackData().payload;
  const body = { event: 'transaction.completed', payload };
  for (const given of [body, JSON.stringify(body)]) {
    for (const name of ['request_amount', 'transaction_amount']) pollute(name, 500);
    const callback = accepted(verify(given));
    expect(claimedAmounts(callback).request.amount).toBeUndefined();
    expect(confirmAmount(callback, { currency: 'UGX', amount: 500 })).toMatchObject({ ok: false });
  }
});

test('threat A42: a list on Object.prototype is no part of the parsed body that is kept', () => {
  pollute('extra', [1]);
  expect(Object.keys(accepted(verify(callbackData())).raw)).toEqual(['event', 'payload']);
});

test('threat A36: a default, a name or an expectation on Object.prototype reads no redirect', () => {
  pollute('event', 'transaction.completed');
  pollute('expectReference', 'ORD-7');
  const query = QUERY.replace('event=transaction.completed&', '');
  expect(verifier.verifyRedirect(query)).toMatchObject({ code: 'signed_field_malformed' });
  for (const options of [undefined, {}])
    expect(verifier.verifyRedirect(QUERY, options)).toMatchObject({ ok: true });
});

const genuine = accepted(verify(callbackData()));
const expected = { currency: 'UGX', amount: 500 };

test('threat A36: the constructor of a genuine callback makes no other', () => {
  expect(genuine.constructor).toBe(Object); // The class itself cannot be reached.
  class Forged extends Object {}
  for (const given of [[], ['callback', genuine], ['callback', { signed: genuine.signed }]])
    for (const maker of [genuine.constructor, Forged]) {
      const forged = Reflect.construct(maker, given);
      expect(() => confirmAmount(forged, expected)).toThrow(/verifyCallback/);
    }
});

test('threat A36: nothing that shares properties or the prototype of a genuine callback is accepted', () => {
  const prototype = Object.getPrototypeOf(genuine);
  for (const forged of [
    ...[{ ...genuine }, structuredClone(genuine), JSON.parse(JSON.stringify(genuine)), prototype],
    ...[Object.create(genuine), Object.create(prototype, Object.getOwnPropertyDescriptors(genuine))],
    ...[Object.setPrototypeOf({ ...genuine }, prototype), new Proxy(genuine, {})],
  ])
    expect(() => confirmAmount(forged, expected)).toThrow(misconfigured('callback'));
  expect(confirmAmount(genuine, expected)).toEqual({ ok: true });
});

test('threat A36: a genuine callback cannot be changed', () => {
  for (const part of [genuine, genuine.signed, genuine.unsigned, genuine.timestamp])
    expect(Object.isFrozen(part)).toBe(true);
  for (const name of ['unsigned', 'transitionId']) expect(Reflect.set(genuine, name, 'x')).toBe(false);
});

test('threat A36: options are read once, so a later change of them changes no verdict', () => {
  const keys = [{ id: 'a', key: SIGNING_KEY }];
  const options = { signingKey: keys, colonIn: undefined as 'merchant_reference' | undefined };
  const given = createVerifier(options);
  keys[0] = { id: 'b', key: 'ANOTHER-KEY-123456' };
  options.colonIn = 'merchant_reference';
  const result = given.verifyCallback({ signature: SIGNATURE, body: callbackData() });
  expect(result).toMatchObject({ ok: true, keyId: 'a' });
});
