import { describe, expect, test } from 'vitest';
import { createVerifier } from '../../src/index.ts';
import { accepted } from '../accepted.ts';
import { verifier } from '../ordinary-verifier.ts';
import { HASH, QUERY, SIGNATURE, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';
import { verdictOf } from './verify.ts';

// Decision D11 of "What the signature proves", beside the vectors of the contract: forms of a query, and construction.

describe('3.11 redirects are parsed from the raw query, the same way everywhere', () => {
  const nested = QUERY.replace(/&(\w+_reference|transaction_\w+)=/g, '&payload[$1]=');

  test.each([
    ['flat', QUERY],
    ['nested', nested],
    ['nested, encoded', nested.replaceAll('[', '%5B').replaceAll(']', '%5D')],
    ['with a question mark', `?${QUERY}`],
    ['a request target', `/payments/return?${QUERY}`],
    ['an absolute address', `https://shop.example/payments/return?${QUERY}#top`],
    ['a URL', new URL(`https://shop.example/payments/return?${QUERY}`)],
    ['URLSearchParams', new URLSearchParams(QUERY)],
  ])('%s', (_, query) => {
    expect(accepted(verifier.verifyRedirect(query)).signed.merchant_reference).toBe('ORD-1001');
  });

  test.each([
    ['a repeated name', `${QUERY}&merchant_reference=ORD-1001`, 'query_malformed'],
    ['flat and nested', `${QUERY}&payload[merchant_reference]=ORD-1001`, 'query_malformed'],
    ['event[]', `${QUERY}&event[]=x`, 'query_malformed'],
    ['a bad escape', `${QUERY}&x=%FF`, 'query_malformed'],
    ['a repeated unknown name', `${QUERY}&x=1&x=2`, 'accepted'],
    ['no signature', QUERY.replace('hmac_signature', 'signature'), 'signature_missing'],
    ['a field missing', QUERY.replace('event=', 'e='), 'signed_field_malformed'],
  ])('%s', (_, query, verdict) => {
    expect(verdictOf(verifier.verifyRedirect(query))).toBe(verdict);
    expect(verdictOf(verifier.verifyRedirect(new URL(`https://shop.example/?${query}`)))).toBe(verdict);
  });

  test('a + is a space, and %2B a plus sign', () => {
    const query = QUERY.replace('ORD-1001', 'A+B').replace(HASH, signatureFor('A B').slice(-64));
    expect(verdictOf(verifier.verifyRedirect(query))).toBe('accepted');
    expect(verdictOf(verifier.verifyRedirect(query.replace('A+B', 'A%2BB')))).toBe('mismatch');
  });

  test('a query that the runtime has decoded gets the verdict of its text: U+FFFD may be a bad escape', () => {
    const text = (reference: string) =>
      QUERY.replace('ORD-1001', reference).replace(SIGNATURE, signatureFor('\ufffd'));
    expect(verdictOf(verifier.verifyRedirect(text('%EF%BF%BD')))).toBe('accepted');
    expect(verdictOf(verifier.verifyRedirect(text('%FF')))).toBe('query_malformed');
    expect(verdictOf(verifier.verifyRedirect(new URLSearchParams(text('%FF'))))).toBe('query_malformed');
  });

  test('redirectFields names other parameters, which then take the place of ours', () => {
    const renamed = createVerifier({
      signingKey: SIGNING_KEY,
      redirectFields: { merchant_reference: 'ref', hmac_signature: 'sig' },
    });
    const query = QUERY.replace('merchant_reference=', 'ref=').replace('hmac_signature=', 'sig=');
    expect(verdictOf(renamed.verifyRedirect(query))).toBe('accepted');
    expect(verdictOf(renamed.verifyRedirect(`${query}&ref=ORD-1001`))).toBe('query_malformed');
    expect(verdictOf(renamed.verifyRedirect(QUERY))).toBe('signature_missing');
  });

  test('redirectFields is checked at construction', () => {
    for (const redirectFields of [
      { amount: 'a' },
      { event: '' },
      { event: 5 },
      { event: 'x', transaction_type: 'x' },
    ]) {
      const options = { signingKey: SIGNING_KEY, redirectFields: redirectFields as { event: string } };
      expect(() => createVerifier(options)).toThrow(
        expect.objectContaining({ option: expect.stringMatching(/^redirectFields/) }),
      );
    }
  });
});
