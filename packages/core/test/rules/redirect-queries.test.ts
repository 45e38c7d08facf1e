import { expect, test } from 'vitest';
import * as core from '../../src/index.ts';
import { redirected } from '../incoming.ts';
import { QUERY, SIGNATURE, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';
import { accepted, verdictOf, verifier } from '../verify.ts';

// Decision D11: redirects are read from the raw query, in the same way everywhere. In addition to the vectors of the contract:
// forms of a query, names and defaults, and what the sender of a URL can do.

const verdictOn = (query: unknown): string => verdictOf(verifier.verifyRedirect(query as string));
const verifierWith = (options: object) => core.createVerifier({ signingKey: SIGNING_KEY, ...options });
const page = 'https://shop.example/payments/return';

test.each([
  ['in an absolute URL', `${page}?${QUERY}#top`],
  ['in an absolute URL in upper case', `HTTP://SHOP.EXAMPLE/?${QUERY}`],
  ['in URLSearchParams', new URLSearchParams(QUERY)],
])('a query %s is accepted', (_, query) => expect(verdictOn(query)).toBe('accepted'));

test.each([
  [null, 'query_malformed'],
  [Object.fromEntries(new URLSearchParams(QUERY)), 'query_malformed'],
  [Object.create(URLSearchParams.prototype), 'query_malformed'],
  // The fields of a path without a question mark are not read.
  [`/return&${QUERY}`, 'signature_missing'],
])('what is not a query is refused: row %#', (query, verdict) => expect(verdictOn(query)).toBe(verdict));

const resembling = { 'payload[event]': 'a', 'payload[hmac_signature]': 'b', events: 'c' };
test.each([
  ['parameters without a value, or with = in it', '&flag&x=a=b&y=', { flag: '', x: 'a=b', y: '' }],
  ['three values of one name', '&x=1&x=2&x=3', { x: ['1', '2', '3'] }],
  ['a line break', '&x=a\nb', { x: 'a\nb' }],
  ['a second question mark', '&x=a?event=b', { x: 'a?event=b' }],
  ['a fragment', '&x=1#&event=b', { x: '1' }],
  ['empty parts', '&&', {}],
  ['names like signed ones', '&payload[event]=a&payload[hmac_signature]=b&events=c', resembling],
  ['the name of a prototype', '&__proto__=a', { ['__proto__']: 'a' }],
])('raw has every parameter of a query with %s, and is frozen', (_, added, parameters) => {
  const { raw } = accepted(verifier.verifyRedirect(QUERY + added));
  const sent = [...new URLSearchParams(QUERY).entries(), ...Object.entries(parameters)];
  expect(Object.entries(raw)).toEqual(sent);
  expect(Object.isFrozen(raw)).toBe(true);
});

test('U+FFFD is refused in a query that the runtime has decoded, since it may have been an invalid escape', () => {
  const text = (reference: string) =>
    QUERY.replace('ORD-1001', reference).replace(SIGNATURE, signatureFor('\ufffd'));
  expect(verdictOn(text('%EF%BF%BD'))).toBe('accepted');
  for (const query of [text('%FF'), new URLSearchParams(text('%FF'))])
    expect(verdictOn(query)).toBe('query_malformed');
});

test('a repeated unsigned name is left out of unsigned, and raw has all of its values', () => {
  const query = `?customer_name=7&${QUERY}&provider_code=x&customer_name=Grace`;
  const { unsigned, raw } = accepted(verifier.verifyRedirect(query));
  expect({ ...unsigned }).toEqual({ provider_code: 'x' });
  expect(raw).toMatchObject({ customer_name: ['7', 'Grace'], provider_code: 'x' });
});

test('a name in redirectFields replaces the default name', () => {
  const redirectFields = { merchant_reference: 'ref', hmac_signature: 'sig', event: undefined };
  const renamed = verifierWith({ redirectFields });
  const query = QUERY.replace('merchant_reference=', 'ref=').replace('hmac_signature=', 'sig=');
  expect(verdictOf(renamed.verifyRedirect(query))).toBe('accepted');
  expect(verdictOf(renamed.verifyRedirect(`${query}&ref=ORD-1001`))).toBe('query_malformed');
  expect(verdictOf(renamed.verifyRedirect(QUERY))).toBe('signature_missing');
});

test('redirectDefaults supplies event and transaction_type where the query has none', () => {
  const redirectDefaults = { event: 'transaction.completed', transaction_type: 'COLLECTION' };
  const given = verifierWith({ redirectDefaults });
  const query = QUERY.replace(/event=[\w.]+&/, '').replace(/&transaction_type=\w+/, '');
  const { signed, raw } = accepted(given.verifyRedirect(query));
  expect(signed).toMatchObject(redirectDefaults);
  expect(raw).not.toHaveProperty('event');
  const half = verifierWith({ redirectDefaults: { ...redirectDefaults, transaction_type: undefined } });
  expect(verdictOf(half.verifyRedirect(query))).toBe('signed_field_malformed');
  redirectDefaults.event = 'changed after construction';
  expect(verdictOf(given.verifyRedirect(query))).toBe('accepted');
});

test.each<[name: string, values: string[], read: (text: string) => unknown]>([
  ['request_amount', ['500', '1999.9'], Number],
  ['transaction_charge', ['-0.5'], Number],
  ['total_credit', ['0'], Number],
  ['id', ['1001'], Number],
  ['charge_customer', ['true', 'false'], (text) => text === 'true'],
  ['customer_name', ['500', 'true'], String],
])('%s of a redirect has the type of the contract, flat and nested: %j', (name, values, read) => {
  for (const text of values)
    for (const form of [name, `payload[${name}]`])
      expect(unsignedOf(`${form}=${text}`)).toEqual({ [name]: read(text) });
});

test.each([
  ['request_amount', '', ...'500.0 5e2 %2B500 0500 0x1F4 +500 500+ -0 NaN Infinity 1,000 true'.split(' ')],
  ['request_amount', ...'9007199254740993 0.1000000000000000055 1e400'.split(' ')],
  ['charge_customer', '', ...'1 0 TRUE yes'.split(' ')],
  ['id', '1.5'],
])('a %s that is not what JSON writes, or not exact, is left out', (name, ...values) => {
  for (const value of values) expect(unsignedOf(`${name}=${value}`), value).toEqual({});
});

function unsignedOf(parameters: string): object {
  return accepted(verifier.verifyRedirect(`${QUERY}&${parameters}`)).unsigned;
}

test('threat A25: core has no function that makes HTML or a URL out of a callback', async () => {
  const makers = Object.keys(core).filter((name) => /html|render|escape|redirectTo|location/i.test(name));
  expect(makers).toEqual([]);
  const url = `/return?${QUERY}&status_message=https://evil.example&location=https://evil.example`;
  const received = await redirected({}, url);
  expect(received).toMatchObject({ reply: undefined, redirect: { ok: true } });
  expect(JSON.stringify(Reflect.get(received, 'headers'))).not.toContain('evil');
});

test('threat A26: only the reference that the session expects verifies, and a session without one expects none', () => {
  const verdict = (options?: object) => verdictOf(verifier.verifyRedirect(QUERY, options));
  expect(verdict({})).toBe('accepted');
  expect(verdict({ expectReference: undefined })).toBe('reference_unexpected, authentic');
  // Misspelled, it must not accept the redirect of any customer.
  expect(verdict({ expectRefernce: 'ORD-1001' } as object)).toBe('reference_unexpected, authentic');
});
