import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ExplainedRequest, explain } from '../../src/explain/index.ts';
import { anything, hostile } from '../anything.ts';
import { callbackData, HASH, OTHER_KEY, SIGNATURE, SIGNING_KEY } from '../signed-callbacks.ts';
import { NOW } from '../verify.ts';
import { CASES, explained, runCases, SIGNERS } from './cases.ts';
import { PUBLIC_KEY, SECRET_KEY } from './wrong-signer.ts';

runCases();

/** Facts about the configuration, whatever was signed. */
const SETTINGS = ['public_key', 'secret_key', 'key_invalid', 'unknown_key'];

test.each(
  SIGNERS.filter(([cause]) => !SETTINGS.includes(cause)).map((one) => [one[0], one[1], one] as const),
)('control: %s is not named when one digit of the hash differs (%s)', (cause, _mistake, one) => {
  const headers = { ...one[2].headers } as Record<string, string>;
  const signature = headers['hmac-signature']?.replace(/s=(.)/, (_, digit) => `s=${digit === '0' ? 1 : 0}`);
  const found = explained(one, { ...one[2], headers: { ...headers, 'hmac-signature': signature } });
  expect(found.cause).not.toBe(cause);
  expect(['unknown_key', 'key_invalid', 'body_not_json', 'base64_digest']).toContain(found.cause);
});

const person = { customer_name: 'Grace Nakato Secret', transaction_account: '256772999888' };
const secrets = [SIGNING_KEY, OTHER_KEY, PUBLIC_KEY, SECRET_KEY, HASH, ...Object.values(person)];
const old = { id: 'old', key: OTHER_KEY, notAfter: new Date(NOW) };
const signingKey = [{ id: 'new', key: SIGNING_KEY }, old];
const keys = { signingKey, publicKey: PUBLIC_KEY, secretKey: SECRET_KEY };

/** Never throws, and shows no secret and no long part of the request. */
function check(given: ExplainedRequest): void {
  const { title, detail, fix } = explain(given, keys, { toleranceSeconds: 30, now: () => NOW });
  const shown = `${title} ${detail} ${fix}`;
  expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
  expect(detail.length).toBeLessThan(400);
  expect(detail).toMatch(/^[\x20-\x7e]*$/);
}

const piece = fc.constantFrom(...secrets, SIGNATURE, ...'t= s= , %2C " \n x \u0000 \ud83d'.split(' '));
const text = fc.oneof(
  fc.string(),
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
);
const known = 'hmac-signature hmac_signature content-length content-type via';
const names = fc.constantFrom(...known.split(' '), SIGNING_KEY);
const fields = fc.dictionary(
  fc.oneof(fc.constantFrom(...Object.keys(callbackData().payload), 'event', 'payload'), text),
  fc.oneof(text, fc.constant(null), fc.integer()),
);
const body = fc.oneof(
  text,
  anything,
  fc.uint8Array(),
  fields,
  fc
    .tuple(fields, text)
    .map(([payload, event]) => ({ event, payload: { ...callbackData(person).payload, ...payload } })),
  fc.nat(600).map((end) => JSON.stringify(callbackData(person)).slice(0, end)),
);

test('threat A23: no request makes an explanation throw, or show a key, a hash or a person', () => {
  const pairs = fc.array(fc.tuple(fc.oneof(names, text), text));
  const signature = fc.oneof(text, fc.constant(SIGNATURE));
  fc.assert(
    fc.property(pairs, signature, body, fc.option(text), (given, value, content, url) => {
      const headers = Object.fromEntries([...given, ['hmac-signature', value]]);
      check({ headers: given, url: url ?? undefined, body: content as object });
      check({ method: 'POST', headers, body: content as object });
    }),
    { numRuns: 300 },
  );
});

test('threat A23: no body that throws when it is read makes an explanation throw', () => {
  for (const content of hostile) check({ headers: { 'hmac-signature': SIGNATURE }, body: content as object });
});

test('threat A23: control: the cases show names and positions, and no secret', () => {
  for (const one of CASES) {
    const { detail } = explained(one, one[2]);
    expect([...secrets, 'ORD-1001'].filter((secret) => detail.includes(secret))).toEqual([]);
  }
});
