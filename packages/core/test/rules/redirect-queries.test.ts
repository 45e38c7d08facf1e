import { describe, expect, test } from 'vitest';
import { createVerifier } from '../../src/index.ts';
import { accepted } from '../accepted.ts';
import { verifier } from '../ordinary-verifier.ts';
import { HASH, QUERY, SIGNATURE, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';
import { verdictOf } from './verify.ts';

// Decision D11, beside the vectors of the contract: forms of a query, and construction.

describe('decision D11: redirects are read from the raw query, in the same way everywhere', () => {
  const nested = QUERY.replace(/&(\w+_reference|transaction_\w+)=/g, '&payload[$1]=');

  test.each([
    ['with flat names', QUERY],
    ['with nested names', nested],
    ['with nested names, percent-encoded', nested.replaceAll('[', '%5B').replaceAll(']', '%5D')],
    ['with a question mark in front', `?${QUERY}`],
    ['in a request target', `/payments/return?${QUERY}`],
    ['in an absolute URL', `https://shop.example/payments/return?${QUERY}#top`],
    ['in an absolute URL in upper case', `HTTP://SHOP.EXAMPLE/?${QUERY}`],
    ['in a URL object', new URL(`https://shop.example/payments/return?${QUERY}`)],
    ['in URLSearchParams', new URLSearchParams(QUERY)],
  ])('a query %s is accepted', (_, query) => {
    expect(accepted(verifier.verifyRedirect(query)).signed.merchant_reference).toBe('ORD-1001');
  });

  test.each([
    ['a repeated signed name', `${QUERY}&merchant_reference=ORD-1001`, 'query_malformed'],
    ['a name both flat and nested', `${QUERY}&payload[merchant_reference]=ORD-1001`, 'query_malformed'],
    ['brackets after a signed name', `${QUERY}&event[]=x`, 'query_malformed'],
    ['an invalid escape', `${QUERY}&x=%FF`, 'query_malformed'],
    ['a repeated unknown name', `${QUERY}&x=1&x=2`, 'accepted'],
    ['a repeated unsigned name', `?id=7&${QUERY}&id=1001`, 'accepted'],
    ['brackets after an unsigned name', `${QUERY}&id[]=7&payload[id][x]=8`, 'accepted'],
    ['no signature', QUERY.replace('hmac_signature', 'signature'), 'signature_missing'],
    ['a missing signed field', QUERY.replace('event=', 'e='), 'signed_field_malformed'],
  ])('a query with %s gets one verdict as a string and as a URL', (_, query, verdict) => {
    expect(verdictOf(verifier.verifyRedirect(query))).toBe(verdict);
    expect(
      verdictOf(verifier.verifyRedirect(new URL(`https://shop.example/?${query.replace('?', '')}`))),
    ).toBe(verdict);
  });

  test.each([
    ['of 8192 characters', `${QUERY}&x=`.padEnd(8192, 'x'), 'accepted'],
    ['of 8193 characters', `${QUERY}&x=`.padEnd(8193, 'x'), 'query_malformed'],
    ['of 128 parameters', QUERY + '&x'.repeat(128 - QUERY.split('&').length), 'accepted'],
    ['of 129 parameters', QUERY + '&x'.repeat(129 - QUERY.split('&').length), 'query_malformed'],
    ['that is the path of a page without one', '/payments/return', 'signature_missing'],
    ['that is a URL without one', 'https://shop.example', 'signature_missing'],
    ['that is null', null, 'query_malformed'],
    ['that is an object with its fields', Object.fromEntries(new URLSearchParams(QUERY)), 'query_malformed'],
    [
      'that only borrows the prototype of URLSearchParams',
      Object.create(URLSearchParams.prototype),
      'query_malformed',
    ],
  ])('threat A29: a query %s gets its verdict', (_, query, verdict) => {
    expect(verdictOf(verifier.verifyRedirect(query as string))).toBe(verdict);
  });

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
    expect(Object.entries(raw)).toEqual([
      ...new URLSearchParams(QUERY).entries(),
      ...Object.entries(parameters),
    ]);
    expect(Object.isFrozen(raw)).toBe(true);
  });

  test('+ is decoded to a space, and %2B to a plus sign', () => {
    const query = QUERY.replace('ORD-1001', 'A+B').replace(HASH, signatureFor('A B').slice(-64));
    expect(verdictOf(verifier.verifyRedirect(query))).toBe('accepted');
    expect(verdictOf(verifier.verifyRedirect(query.replace('A+B', 'A%2BB')))).toBe('mismatch');
  });

  test('U+FFFD is refused in a query that the runtime has decoded, since it may have been an invalid escape', () => {
    const text = (reference: string) =>
      QUERY.replace('ORD-1001', reference).replace(SIGNATURE, signatureFor('\ufffd'));
    expect(verdictOf(verifier.verifyRedirect(text('%EF%BF%BD')))).toBe('accepted');
    expect(verdictOf(verifier.verifyRedirect(text('%FF')))).toBe('query_malformed');
    expect(verdictOf(verifier.verifyRedirect(new URLSearchParams(text('%FF'))))).toBe('query_malformed');
  });

  test('a name in redirectFields replaces the default name', () => {
    const renamed = createVerifier({
      signingKey: SIGNING_KEY,
      redirectFields: { merchant_reference: 'ref', hmac_signature: 'sig' },
    });
    const query = QUERY.replace('merchant_reference=', 'ref=').replace('hmac_signature=', 'sig=');
    expect(verdictOf(renamed.verifyRedirect(query))).toBe('accepted');
    expect(verdictOf(renamed.verifyRedirect(`${query}&ref=ORD-1001`))).toBe('query_malformed');
    expect(verdictOf(renamed.verifyRedirect(QUERY))).toBe('signature_missing');
    const redirectFields = { merchant_reference: undefined } as object;
    const same = createVerifier({ signingKey: SIGNING_KEY, redirectFields });
    expect(verdictOf(same.verifyRedirect(QUERY))).toBe('accepted');
  });

  test('invalid redirectFields are refused at construction', () => {
    const invalid: [option: string, redirectFields: object, problem: string][] = [
      ['amount', { amount: 'a' }, 'redirectFields'],
      ['redirectFields.event', { event: '' }, 'a non-empty string'],
      ['redirectFields.event', { event: 5 }, 'a non-empty string'],
      ['redirectFields', { event: 'x', transaction_type: 'x' }, 'maps the parameter "x" to two fields'],
      ['redirectFields', { event: 'id' }, 'maps the parameter "id" to two fields'],
    ];
    for (const [option, redirectFields, problem] of invalid) {
      const options = { signingKey: SIGNING_KEY, redirectFields };
      expect(() => createVerifier(options)).toThrow(
        expect.objectContaining({ option, message: expect.stringContaining(problem) }),
      );
    }
  });

  test('a repeated unsigned name is left out of unsigned, and raw has all of its values', () => {
    const { unsigned, raw } = accepted(
      verifier.verifyRedirect(`?customer_name=7&${QUERY}&provider_code=x&customer_name=Grace`),
    );
    expect({ ...unsigned }).toEqual({ provider_code: 'x' });
    expect(raw).toMatchObject({
      customer_name: ['7', 'Grace'],
      provider_code: 'x',
      merchant_reference: 'ORD-1001',
    });
  });

  test('redirectDefaults supplies event and transaction_type where the query has none', () => {
    const redirectDefaults = { event: 'transaction.completed', transaction_type: 'COLLECTION' };
    const given = createVerifier({ signingKey: SIGNING_KEY, redirectDefaults });
    const query = QUERY.replace('event=transaction.completed&', '').replace(
      '&transaction_type=COLLECTION',
      '',
    );
    const { signed, raw } = accepted(given.verifyRedirect(query));
    expect(signed).toMatchObject(redirectDefaults);
    expect(raw).not.toHaveProperty('event');
    expect(verdictOf(verifier.verifyRedirect(query))).toBe('signed_field_malformed');
    expect(verdictOf(given.verifyRedirect(QUERY.replace('COLLECTION', 'PAYOUT')))).toBe('mismatch');
    const withoutType = { ...redirectDefaults, transaction_type: undefined } as { event: string };
    const half = createVerifier({ signingKey: SIGNING_KEY, redirectDefaults: withoutType });
    expect(verdictOf(half.verifyRedirect(query))).toBe('signed_field_malformed');
    redirectDefaults.event = 'changed after construction';
    expect(verdictOf(given.verifyRedirect(query))).toBe('accepted');
  });

  test.each([
    [{ merchant_reference: 'ORD-1' }, 'merchant_reference'],
    [{ hmac_signature: 'x' }, 'hmac_signature'],
    [{ event: '' }, 'redirectDefaults.event'],
    [{ event: 5 }, 'redirectDefaults.event'],
    [{ transaction_type: '\ud800' }, 'redirectDefaults.transaction_type'],
    [null, 'redirectDefaults'],
    ['COLLECTION', 'redirectDefaults'],
  ])('the redirectDefaults %j are refused at construction', (redirectDefaults, option) => {
    const options = { signingKey: SIGNING_KEY, redirectDefaults: redirectDefaults as { event: string } };
    const message = expect.stringContaining('redirectDefaults');
    expect(() => createVerifier(options)).toThrow(expect.objectContaining({ option, message }));
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
    ...[
      '',
      '500.0',
      '5e2',
      '%2B500',
      '0500',
      '0x1F4',
      '+500',
      '500+',
      '-0',
      'NaN',
      'Infinity',
      '1,000',
      'true',
    ],
    ...['9007199254740993', '0.1000000000000000055', '1e400'],
  ])('request_amount=%s is not what JSON writes for a number, or not exact, and is left out', (text) => {
    expect(unsignedOf(`request_amount=${text}`)).toEqual({});
  });

  test.each(['1', '0', 'TRUE', 'yes', ''])('charge_customer=%s is not a boolean, and is left out', (text) => {
    expect(unsignedOf(`charge_customer=${text}`)).toEqual({});
  });

  test('an id that is not an integer is left out', () => expect(unsignedOf('id=1.5')).toEqual({}));

  test('a signed field stays the string that the query has, and raw has every parameter unchanged', () => {
    const query = QUERY.replace('ORD-1001', '1001').replace(HASH, signatureFor('1001').slice(-64));
    const redirect = accepted(verifier.verifyRedirect(`${query}&id=7`));
    expect(redirect.signed.merchant_reference).toBe('1001');
    expect(redirect.raw).toMatchObject({ merchant_reference: '1001', id: '7' });
  });
});
