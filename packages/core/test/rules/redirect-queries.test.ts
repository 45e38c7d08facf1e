import { describe, expect, test } from 'vitest';
import * as core from '../../src/index.ts';
import { redirected } from '../incoming.ts';
import { callbackData, QUERY, SIGNATURE, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';
import { accepted, verdictOf, verifier, verify } from '../verify.ts';

// Beside the vectors of the contract: forms of a query, construction, and what the sender of a URL can do.

const verdictOn = (query: unknown): string => verdictOf(verifier.verifyRedirect(query as string));
const verifierWith = (options: object) => core.createVerifier({ signingKey: SIGNING_KEY, ...options });

describe('decision D11: redirects are read from the raw query, in the same way everywhere', () => {
  const nested = QUERY.replace(/&(\w+_reference|transaction_\w+)=/g, '&payload[$1]=');
  const page = 'https://shop.example/payments/return';

  test.each([
    ['with nested names', nested],
    ['with nested names, percent-encoded', nested.replaceAll('[', '%5B').replaceAll(']', '%5D')],
    ['with a question mark in front', `?${QUERY}`],
    ['in a request target', `/payments/return?${QUERY}`],
    ['in an absolute URL', `${page}?${QUERY}#top`],
    ['in an absolute URL in upper case', `HTTP://SHOP.EXAMPLE/?${QUERY}`],
    ['in a URL object', new URL(`${page}?${QUERY}`)],
    ['in URLSearchParams', new URLSearchParams(QUERY)],
  ])('a query %s is accepted', (_, query) => expect(verdictOn(query)).toBe('accepted'));

  test.each([
    ['a repeated signed name', `${QUERY}&merchant_reference=ORD-1001`, 'query_malformed'],
    ['a name both flat and nested', `${QUERY}&payload[merchant_reference]=ORD-1001`, 'query_malformed'],
    ['brackets after a signed name', `${QUERY}&event[]=x`, 'query_malformed'],
    ...['%FF', '%', '%F', '%zz', '%ED%A0%80'].map((bad) => [
      `the escape ${bad}`,
      `${QUERY}&x=${bad}`,
      'query_malformed',
    ]),
    ['an encoded signed name twice', `${QUERY}&%65vent=x`, 'query_malformed'],
    ['the signature twice', `hmac_signature=x&${QUERY}`, 'query_malformed'],
    ['an index after a nested name', `${QUERY}&payload[transaction_type][0]=x`, 'query_malformed'],
    ['no signature', QUERY.replace('hmac_signature', 'signature'), 'signature_missing'],
    ['nothing else, as a page has', '', 'signature_missing'],
  ])(
    'threat A14, threat A15: a query with %s gets one verdict as a string, after a path and as a URL',
    (_, query = '', verdict) => {
      for (const form of [query, `/return?${query}`, new URL(`${page}?${query}`)])
        expect(verdictOn(form)).toBe(verdict);
    },
  );

  test.each([
    ['null', null],
    ['an object with its fields', Object.fromEntries(new URLSearchParams(QUERY))],
    ['what only borrows the prototype of URLSearchParams', Object.create(URLSearchParams.prototype)],
  ])('%s is not a query', (_, query) => expect(verdictOn(query)).toBe('query_malformed'));

  test.each([
    ['parameters without a value, or with = in it', '&flag&x=a=b&y=', { flag: '', x: 'a=b', y: '' }],
    ['three values of one name', '&x=1&x=2&x=3', { x: ['1', '2', '3'] }],
    ['a line break', '&x=a\nb', { x: 'a\nb' }],
    ['a second question mark', '&x=a?event=b', { x: 'a?event=b' }],
    ['a fragment', '&x=1#&event=b', { x: '1' }],
    ['empty parts', '&&', {}],
    [
      'names that only resemble those of signed fields',
      '&payload[event]=a&payload[hmac_signature]=b&events=c',
      { 'payload[event]': 'a', 'payload[hmac_signature]': 'b', events: 'c' },
    ],
    ['the name of a prototype', '&__proto__=a', { ['__proto__']: 'a' }],
  ])('raw has every parameter of a query with %s, and is frozen', (_, added, parameters) => {
    const { raw } = accepted(verifier.verifyRedirect(QUERY + added));
    const sent = [...new URLSearchParams(QUERY).entries(), ...Object.entries(parameters)];
    expect(Object.entries(raw)).toEqual(sent);
    expect(Object.isFrozen(raw)).toBe(true);
  });

  test('the fields of a path without a question mark are not read', () => {
    expect(verdictOn(`/return&${QUERY}`)).toBe('signature_missing');
  });

  test('U+FFFD is refused in a query that the runtime has decoded, since it may have been an invalid escape', () => {
    const text = (reference: string) =>
      QUERY.replace('ORD-1001', reference).replace(SIGNATURE, signatureFor('\ufffd'));
    expect(verdictOn(text('%EF%BF%BD'))).toBe('accepted');
    expect(verdictOn(text('%FF'))).toBe('query_malformed');
    expect(verdictOn(new URLSearchParams(text('%FF')))).toBe('query_malformed');
  });

  test('a repeated unsigned name is left out of unsigned, and raw has all of its values', () => {
    const query = `?customer_name=7&${QUERY}&provider_code=x&customer_name=Grace`;
    const { unsigned, raw } = accepted(verifier.verifyRedirect(query));
    expect({ ...unsigned }).toEqual({ provider_code: 'x' });
    expect(raw).toMatchObject({ customer_name: ['7', 'Grace'], provider_code: 'x' });
  });
});

describe('redirectFields and redirectDefaults', () => {
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
    expect(verdictOn(query)).toBe('signed_field_malformed');
    expect(verdictOf(given.verifyRedirect(QUERY.replace('COLLECTION', 'PAYOUT')))).toBe('mismatch');
    const half = verifierWith({ redirectDefaults: { ...redirectDefaults, transaction_type: undefined } });
    expect(verdictOf(half.verifyRedirect(query))).toBe('signed_field_malformed');
    redirectDefaults.event = 'changed after construction';
    expect(verdictOf(given.verifyRedirect(query))).toBe('accepted');
  });

  test.each<[options: object, option: string, problem: string]>([
    [{ redirectFields: { amount: 'a' } }, 'amount', 'redirectFields'],
    [{ redirectFields: { event: '' } }, 'redirectFields.event', 'a non-empty string'],
    [{ redirectFields: { event: 'x', transaction_type: 'x' } }, 'redirectFields', '"x" to two fields'],
    [{ redirectFields: { event: 'id' } }, 'redirectFields', 'the parameter "id" to two fields'],
    [{ redirectDefaults: { merchant_reference: 'ORD-1' } }, 'merchant_reference', 'redirectDefaults'],
    [{ redirectDefaults: { hmac_signature: 'x' } }, 'hmac_signature', 'redirectDefaults'],
    [{ redirectDefaults: { event: '' } }, 'redirectDefaults.event', 'redirectDefaults'],
    [{ redirectDefaults: { transaction_type: '\ud800' } }, 'redirectDefaults.transaction_type', 'redirectD'],
    [{ redirectDefaults: null }, 'redirectDefaults', 'redirectDefaults'],
  ])('%j is refused at construction', (options, option, problem) => {
    const message = expect.stringContaining(problem);
    expect(() => verifierWith(options)).toThrow(expect.objectContaining({ option, message }));
  });
});

describe('the unsigned fields of a redirect have the types of the contract', () => {
  const unsignedOf = (parameters: string) =>
    accepted(verifier.verifyRedirect(`${QUERY}&${parameters}`)).unsigned;

  test.each([
    ['request_amount', '500', 500],
    ['request_amount', '1999.9', 1999.9],
    ['transaction_charge', '-0.5', -0.5],
    ['total_credit', '0', 0],
    ['id', '1001', 1001],
    ['charge_customer', 'true', true],
    ['charge_customer', 'false', false],
    ['customer_name', '500', '500'],
    ['customer_name', 'true', 'true'],
  ])('%s=%s is read as %j, flat and nested', (name, text, value) => {
    expect(unsignedOf(`${name}=${text}`)).toEqual({ [name]: value });
    expect(unsignedOf(`payload[${name}]=${text}`)).toEqual({ [name]: value });
  });

  test.each([
    ['request_amount', '', ...'500.0 5e2 %2B500 0500 0x1F4 +500 500+ -0 NaN Infinity 1,000 true'.split(' ')],
    ['request_amount', ...'9007199254740993 0.1000000000000000055 1e400'.split(' ')],
    ['charge_customer', '', ...'1 0 TRUE yes'.split(' ')],
    ['id', '1.5'],
  ])('a %s that is not what JSON writes, or not exact, is left out', (name, ...values) => {
    for (const value of values) expect(unsignedOf(`${name}=${value}`), value).toEqual({});
  });
});

describe('what the sender of a URL can do', () => {
  test('threat A4: a signature verifies on both channels, and the results name their channel', () => {
    const [callback, redirect] = [accepted(verify(callbackData())), accepted(verifier.verifyRedirect(QUERY))];
    expect([callback.kind, redirect.kind]).toEqual(['callback', 'redirect']);
    expect({ ...redirect.signed }).toEqual({ ...callback.signed });
    expect(redirect.transitionId).toBe(callback.transitionId);
  });

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
    for (const options of [undefined, {}, { expectReference: 'ORD-1001' }])
      expect(verdict(options)).toBe('accepted');
    for (const expectReference of ['ORD-1002', 'ord-1001', 'ORD-1001 ', 'ORD-100', '', undefined])
      expect(verdict({ expectReference })).toBe('reference_unexpected, authentic');
  });
});
