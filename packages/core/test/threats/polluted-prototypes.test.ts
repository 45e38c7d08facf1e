import { afterEach, describe, expect, test } from 'vitest';
import { claimedAmounts, confirmAmount, createVerifier } from '../../src/index.ts';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  receiveCallback,
  receiveRedirect,
} from '../../src/receive/index.ts';
import { accepted } from '../accepted.ts';
import { parsed, post, unread } from '../incoming.ts';
import { verifier } from '../ordinary-verifier.ts';
import { callbackData, HASH_OF_OTHER_KEY, QUERY, SIGNATURE, SIGNING_KEY, T } from '../signed-callbacks.ts';

// A bug elsewhere in the process lets a sender write to Object.prototype, before a forged callback.

const FORGED = `t=${T},s=${HASH_OF_OTHER_KEY}`;
const UNAUTHORIZED = { status: 401, body: '{"error":"unauthorized"}' };

const NAMES = [
  ...[
    'ok',
    'key',
    'keyId',
    'id',
    'code',
    'authentic',
    'evidence',
    'reply',
    'callback',
    'redirect',
    'failure',
  ],
  ...[
    'value',
    'data',
    'status',
    'body',
    'signed',
    'unsigned',
    'kind',
    'text',
    'state',
    'notAfter',
    'default',
  ],
  ...[
    'hmac-signature',
    'hmac_signature',
    'content-length',
    'location',
    'account',
    'expectReference',
    'fields',
    'raw',
  ],
];
const VALUES: unknown[] = [
  true,
  'accepted',
  { status: 200, headers: {}, body: 'forged', ok: true, id: 'x', notAfter: 9e15 },
  [],
];

const polluted = new Set<string>();

function pollute(name: string, value: unknown): void {
  polluted.add(name);
  Object.defineProperty(Object.prototype, name, {
    value,
    configurable: true,
    writable: true,
    enumerable: true,
  });
}

afterEach(() => {
  for (const name of polluted) Reflect.deleteProperty(Object.prototype, name);
  polluted.clear();
});

describe('threat A36: a polluted prototype', () => {
  const callbacks = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });
  const passing = createCallbackReceiver({ signingKey: SIGNING_KEY });
  const redirects = createRedirectReceiver({ signingKey: SIGNING_KEY, onRedirect: () => '/thanks' });
  const bytes = Buffer.from(JSON.stringify(callbackData()));
  const url = `/return?${QUERY.replace(SIGNATURE, FORGED)}`;

  test.each(NAMES)('threat A36: with any Object.prototype.%s, a forgery stays a forgery', async (name) => {
    for (const value of VALUES) {
      pollute(name, value);
      const result = verifier.verifyCallback({ signature: FORGED, body: callbackData() });
      const redirect = verifier.verifyRedirect(url);
      const replies = [
        await receiveCallback(post(parsed(callbackData()), { 'hmac-signature': FORGED }), callbacks),
        await receiveCallback(post(unread(bytes), { 'hmac-signature': FORGED }), passing),
        await receiveRedirect({ method: 'GET', url }, redirects),
      ];
      Reflect.deleteProperty(Object.prototype, name);
      for (const refusal of [result, redirect]) {
        expect(refusal).toMatchObject({ ok: false, authentic: false, code: 'mismatch' });
        expect(refusal).not.toHaveProperty('evidence');
      }
      expect(replies).toMatchObject(replies.map(() => ({ reply: UNAUTHORIZED })));
    }
  });

  test.each(NAMES)(
    'threat A36: with any Object.prototype.%s, a genuine callback is accepted',
    async (name) => {
      for (const value of VALUES) {
        pollute(name, value);
        const answered = await receiveCallback(post(unread(bytes)), callbacks);
        const passed = await receiveCallback(post(parsed(callbackData())), passing);
        const { reply, callback } = passed;
        const hasReply = Object.hasOwn(passed, 'reply');
        Reflect.deleteProperty(Object.prototype, name);
        expect(answered).toEqual({
          reply: expect.objectContaining({ status: 200, body: '{"status":"accepted"}' }),
        });
        expect([hasReply, reply]).toEqual([true, undefined]);
        expect(callback).toMatchObject({ ok: true, keyId: 'default', account: '' });
      }
    },
  );

  test('threat A36: an amount on Object.prototype is not an amount of the callback', () => {
    const { request_amount: _, transaction_amount: __, ...payload } = callbackData().payload;
    const body = { event: 'transaction.completed', payload };
    for (const given of [body, JSON.stringify(body)]) {
      pollute('request_amount', 500);
      pollute('transaction_amount', 500);
      const callback = accepted(verifier.verifyCallback({ signature: SIGNATURE, body: given }));
      if (callback.kind !== 'callback') throw new Error('A callback became a redirect.');
      expect(claimedAmounts(callback).request.amount).toBeUndefined();
      expect(confirmAmount(callback, { currency: 'UGX', amount: 500 })).toMatchObject({ ok: false });
    }
  });

  test('threat A36: a default or a name on Object.prototype reads no redirect', () => {
    const query = QUERY.replace('event=transaction.completed&', '');
    pollute('event', 'transaction.completed');
    expect(verifier.verifyRedirect(query)).toMatchObject({ code: 'signed_field_malformed' });
    expect(verifier.verifyRedirect(QUERY)).toMatchObject({ ok: true });
  });

  test('threat A36: an expectReference on Object.prototype is not an expectation', () => {
    pollute('expectReference', 'ORD-7');
    expect(verifier.verifyRedirect(QUERY, {})).toMatchObject({ ok: true });
  });
});

describe('threat A36: objects that were not verified', () => {
  const genuine = accepted(verifier.verifyCallback({ signature: SIGNATURE, body: callbackData() }));
  const expected = { currency: 'UGX', amount: 500 };

  test('threat A36: the constructor of a genuine callback makes no other', () => {
    expect(genuine.constructor).toBe(Object); // The class itself cannot be reached.
    class Forged extends Object {}
    for (const given of [[], ['callback', genuine], ['callback', { signed: genuine.signed }]]) {
      for (const maker of [genuine.constructor, Forged]) {
        const forged = Reflect.construct(maker, given);
        expect(() => confirmAmount(forged, expected)).toThrow(/verifyCallback/);
      }
    }
  });

  test('threat A36: nothing that shares properties or the prototype of a genuine callback is accepted', () => {
    const prototype = Object.getPrototypeOf(genuine);
    const descriptors = Object.getOwnPropertyDescriptors(genuine);
    for (const forged of [
      { ...genuine },
      structuredClone(genuine),
      JSON.parse(JSON.stringify(genuine)),
      Object.create(genuine),
      Object.create(prototype, descriptors),
      Object.setPrototypeOf({ ...genuine }, prototype),
      new Proxy(genuine, {}),
      prototype,
    ]) {
      expect(() => confirmAmount(forged, expected)).toThrow(expect.objectContaining({ option: 'callback' }));
    }
    expect(confirmAmount(genuine as never, expected)).toEqual({ ok: true });
  });

  test('threat A36: a genuine callback cannot be changed', () => {
    expect(Object.isFrozen(genuine) && Object.isFrozen(genuine.signed)).toBe(true);
    expect(Object.isFrozen(genuine.unsigned) && Object.isFrozen(genuine.timestamp)).toBe(true);
    expect(Reflect.set(genuine, 'unsigned', {})).toBe(false);
    expect(Reflect.set(genuine, 'transitionId', 'x')).toBe(false);
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
});
