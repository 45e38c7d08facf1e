import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { ConfigurationError, createVerifier } from '../../src/index.ts';
import { createCallbackReceiver, createRedirectReceiver } from '../../src/receive/index.ts';
import { parsed, post, received, redirected } from '../incoming.ts';
import {
  callbackData,
  HASH,
  HASH_OF_OTHER_KEY,
  OTHER_KEY,
  QUERY,
  SIGNATURE,
  SIGNING_KEY,
  signatureFor,
  T,
} from '../signed-callbacks.ts';
import { accepted, verdictOf, verifier, verify } from '../verify.ts';

const person = { customer_name: 'Grace Nakato Secret', transaction_account: '256772999888' };
const secrets = [SIGNING_KEY, OTHER_KEY, HASH, HASH_OF_OTHER_KEY, ...Object.values(person)];
const [a, b] = [
  { id: 'a', key: SIGNING_KEY },
  { id: 'b', key: OTHER_KEY },
];

function leaks(value: unknown): string[] {
  const shown = [
    inspect(value, { depth: 20, showHidden: true, getters: true }),
    // console.dir() shows objects with customInspect: false.
    inspect(value, { depth: 20, customInspect: false }),
    inspect(value, { depth: 20, customInspect: false, showHidden: true, showProxy: true }),
    inspect(value, { depth: 20, customInspect: false, getters: true }),
    inspect([{ value }]),
    inspect(new Map([[value, value]])),
    inspect(Object(value) === value ? { ...(value as object) } : value, { depth: 20, showHidden: true }),
    JSON.stringify({ value }) ?? '',
    `${value instanceof Error ? value.stack : ''}`,
    messageOf(() => assert.deepStrictEqual(value, { another: 'object' })),
    messageOf(() => assert.deepStrictEqual({ another: 'object' }, [value])),
    messageOf(() => expect(value).toEqual({ another: 'object' })),
  ].join('\n');
  return secrets.filter((secret) => shown.includes(secret));
}

function messageOf(run: () => unknown): string {
  const error = thrownBy(run);
  return error instanceof Error ? error.message : '';
}

test('threat A23: control: the check finds a secret', () => {
  expect(leaks({ deep: [callbackData(person)] })).toEqual(Object.values(person));
  expect(leaks(new Error(SIGNING_KEY))).toEqual([SIGNING_KEY]);
});

test.each([SIGNING_KEY, [a, b]])('threat A23: no verifier and no receiver shows a key', (signingKey) => {
  for (const value of [
    createVerifier({ signingKey }),
    createCallbackReceiver({ signingKey, onCallback: () => undefined }),
    createRedirectReceiver({ signingKey, onRedirect: () => '/thanks' }),
  ]) {
    expect(leaks(value)).toEqual([]);
    expect(leaks(Object.getOwnPropertyDescriptors(value))).toEqual([]);
  }
});

test('threat A23: a verified callback or redirect shows its signed fields, and no person', () => {
  const callback = verify(JSON.stringify(callbackData(person)));
  const redirect = verifier.verifyRedirect(`${QUERY}&${new URLSearchParams(person)}`);
  for (const result of [callback, redirect]) {
    expect(result.ok).toBe(true);
    expect(leaks(result)).toEqual([]);
    expect(inspect(result)).toContain('ORD-1001');
    expect(inspect(result)).toContain(accepted(result).transitionId);
    expect(inspect(result)).toContain('[redacted: may hold personal data]');
    const signed = { merchant_reference: 'ORD-1001' };
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({ signed });
  }
});

test('threat A23: a clone of a verified callback has its signed fields, and no person', () => {
  const callback = verify(JSON.stringify(callbackData(person)));
  const clone = structuredClone(callback);
  expect(clone).toEqual({
    ok: true,
    kind: 'callback',
    signed: expect.objectContaining({ merchant_reference: 'ORD-1001' }),
    account: '',
    keyId: 'default',
  });
  expect(leaks(clone)).toEqual([]);
});

test('threat A23: reading a getter shows the person, and later inspections still do not', () => {
  const callback = accepted(verify(JSON.stringify(callbackData(person))));
  expect(callback.unsigned).toMatchObject(person);
  expect(callback.raw).toMatchObject({ payload: person });
  expect(callback.unsigned).toBe(callback.unsigned);
  expect(leaks(callback)).toEqual([]);
});

test('threat A23: no refusal shows a header, a body or a key, authentic or not', () => {
  const refusals = [
    verify(callbackData(person), `t=${T},s=${HASH_OF_OTHER_KEY}`),
    verify(callbackData({ ...person, merchant_reference: 'A:B' }), signatureFor('A:B')),
    verify(JSON.stringify(callbackData(person)).replace('{', '{"event":"x",')),
    verify(`${JSON.stringify(callbackData(person))}x`),
    verify(callbackData({ ...person, merchant_reference: 5 })),
    verify(callbackData(person), `${SIGNATURE},${SIGNATURE}`),
    verify(callbackData(person), SIGNATURE, { toleranceSeconds: 1 }),
    verifier.verifyRedirect(`${QUERY}&${new URLSearchParams(person)}&event=x`),
    verifier.verifyRedirect(`${QUERY}&${new URLSearchParams(person)}`, { expectReference: 'ORD-1' }),
  ];
  expect(new Set(refusals.map(verdictOf)).size).toBe(9);
  for (const refusal of refusals) expect(leaks(refusal)).toEqual([]);
});

test('threat A23: no error of construction shows a key, its cause and properties included', () => {
  const options = [
    { signingKey: `${SIGNING_KEY}\n` },
    { signingKey: SIGNING_KEY, publicKey: SIGNING_KEY },
    { signingKey: SIGNING_KEY, secretKey: SIGNING_KEY },
    { signingKey: [a, { ...a, id: 'b' }] },
    { signingKey: [a, { ...b, id: 'a' }] },
    { signingKey: [{ ...a, id: '' }] },
    { signingKey: [{ ...a, key: ` ${SIGNING_KEY}` }] },
    { signingKey: SIGNING_KEY, toleranceSeconds: -1 },
  ];
  for (const option of options) {
    const error = thrownBy(() => createVerifier(option));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(leaks(error)).toEqual([]);
  }
});

test('threat A23: nothing that a receiver reports to its hooks shows a key, a header or a body', async () => {
  const shown: unknown[] = [];
  const show = (one: unknown): number => shown.push(one);
  const options = { onRefused: show, onError: show };
  const data = callbackData(person);
  const forged = { 'hmac-signature': `t=${T},s=${HASH_OF_OTHER_KEY}` };
  await received(post(parsed(data), forged), options);
  await received(post(parsed(JSON.stringify(data).slice(1))), options);
  await received(post({ state: 'consumed' }), options);
  expect(shown).toHaveLength(3);
  expect(shown.flatMap(leaks)).toEqual([]);
});

test('threat A23: the answer to a redirect keeps its URL from other sites and caches', async () => {
  const options = { onRedirect: () => '/orders/1' };
  const [verified, refused, wrong] = [
    await redirected(options),
    await redirected(options, '/return'),
    await redirected(options, `/return?${QUERY}`, 'HEAD'),
  ];
  expect([verified, refused, wrong].map(({ reply }) => reply?.status)).toEqual([303, 401, 405]);
  for (const { reply } of [verified, refused, wrong]) {
    expect(reply?.headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    expect(leaks(reply)).toEqual([]);
  }
});

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}
