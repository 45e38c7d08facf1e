import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { ConfigurationError, createVerifier } from '../../src/index.ts';
import { createCallbackReceiver, createRedirectReceiver } from '../../src/receive/index.ts';
import { parsed, post, received } from '../incoming.ts';
import { shown } from '../shown.ts';
import * as signed from '../signed-callbacks.ts';
import {
  callbackData,
  HASH_OF_OTHER_KEY,
  OTHER_KEY,
  QUERY,
  SIGNATURE,
  SIGNING_KEY,
} from '../signed-callbacks.ts';
import { accepted, verdictOf, verifier, verify } from '../verify.ts';

// Threat A23: leaks through logs and URLs.

const person = { customer_name: 'Grace Nakato Secret', transaction_account: '256772999888' };
const secrets = [SIGNING_KEY, OTHER_KEY, signed.HASH, HASH_OF_OTHER_KEY, ...Object.values(person)];
const FORGED = `t=${signed.T},s=${HASH_OF_OTHER_KEY}`;
const DATA = callbackData(person);
const TEXT = JSON.stringify(DATA);
const PERSONAL = `${QUERY}&${new URLSearchParams(person)}`;
const [a, b] = [
  { id: 'a', key: SIGNING_KEY },
  { id: 'b', key: OTHER_KEY },
];

function thrownBy(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('No error was thrown.');
}

/** The secrets that a logger, or a test that fails, would show. */
function leaks(value: unknown): string[] {
  const failures = [
    () => assert.deepStrictEqual(value, { another: 'object' }),
    () => assert.deepStrictEqual({ another: 'object' }, [value]),
    () => expect(value).toEqual({ another: 'object' }),
  ].map((run) => thrownBy(run).message);
  const all = [shown(value), ...failures].join('\n');
  return secrets.filter((secret) => all.includes(secret));
}

test('threat A23: control: the check finds a secret', () => {
  expect(leaks({ deep: [DATA] })).toEqual(Object.values(person));
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
  for (const result of [verify(TEXT), verifier.verifyRedirect(PERSONAL)]) {
    expect(leaks(accepted(result))).toEqual([]);
    for (const text of ['ORD-1001', accepted(result).transitionId, '[redacted: may hold personal data]'])
      expect(inspect(result)).toContain(text);
    const own = { merchant_reference: 'ORD-1001' };
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({ signed: own });
  }
});

test('threat A23: reading a getter shows the person, and later inspections still do not', () => {
  const callback = accepted(verify(TEXT));
  expect(callback.unsigned).toMatchObject(person);
  expect(callback.raw).toMatchObject({ payload: person });
  expect(callback.unsigned).toBe(callback.unsigned);
  expect(leaks(callback)).toEqual([]);
});

test('threat A23: no refusal shows a header, a body or a key, authentic or not', () => {
  const refusals = [
    verify(DATA, FORGED),
    verify(callbackData({ ...person, merchant_reference: 'A:B' }), signed.signatureFor('A:B')),
    verify(TEXT.replace('{', '{"event":"x",')),
    verify(`${TEXT}x`),
    verify(callbackData({ ...person, merchant_reference: 5 })),
    verify(DATA, `${SIGNATURE},${SIGNATURE}`),
    verify(DATA, SIGNATURE, { toleranceSeconds: 1 }),
    verifier.verifyRedirect(`${PERSONAL}&event=x`),
    verifier.verifyRedirect(PERSONAL, { expectReference: 'ORD-1' }),
  ];
  expect(new Set(refusals.map(verdictOf)).size).toBe(9);
  for (const refusal of refusals) expect(leaks(refusal)).toEqual([]);
});

test.each([
  { signingKey: `${SIGNING_KEY}\n` },
  { signingKey: SIGNING_KEY, publicKey: SIGNING_KEY },
  { signingKey: [a, { ...a, id: 'b' }] },
  { signingKey: [{ ...a, key: ` ${SIGNING_KEY}` }] },
])(
  'threat A23: no error of construction shows a key, its cause and properties included: row %#',
  (options) => {
    const error = thrownBy(() => createVerifier(options));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(leaks(error)).toEqual([]);
  },
);

test('threat A23: nothing that a receiver reports to its hooks shows a key, a header or a body', async () => {
  const reported: unknown[] = [];
  const report = (one: unknown): number => reported.push(one);
  const bodies = [[parsed(DATA), FORGED] as const, [parsed(TEXT.slice(1))], [{ state: 'consumed' }]] as const;
  for (const [body, signature = SIGNATURE] of bodies)
    await received(post(body, { 'hmac-signature': signature }), { onRefused: report, onError: report });
  expect(reported).toHaveLength(3);
  expect(reported.flatMap(leaks)).toEqual([]);
});
