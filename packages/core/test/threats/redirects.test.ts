import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as core from '../../src/index.ts';
import { ConfigurationError, confirmAmount } from '../../src/index.ts';
import { createRedirectReceiver, receiveRedirect } from '../../src/receive/index.ts';
import { signCallback } from '../../src/testing.ts';
import { accepted } from '../accepted.ts';
import { verifier } from '../ordinary-verifier.ts';
import { callbackData, QUERY, SIGNATURE, SIGNING_KEY } from '../signed-callbacks.ts';
import { dataOf, signedFields } from './field-strings.ts';
import { codeOf, verify } from './verify.ts';

// What a customer can do with the URL of a redirect, or an attacker who sends one to a customer.

describe('threat A4: a signature moved from one channel to the other', () => {
  test('threat A4: a signature verifies on both channels, and the results cannot be exchanged', () => {
    fc.assert(
      fc.property(signedFields, (fields) => {
        fc.pre(Object.values(fields).every((text) => text.isWellFormed() && !text.includes(':')));
        const data = dataOf(fields);
        const signature = signCallback({ signingKey: SIGNING_KEY, data });
        const callback = accepted(verify(data, signature));
        const redirect = accepted(
          verifier.verifyRedirect(`?${new URLSearchParams({ ...fields, hmac_signature: signature })}`),
        );
        expect([callback.kind, redirect.kind]).toEqual(['callback', 'redirect']);
        expect({ ...redirect.signed }).toEqual({ ...callback.signed });
        expect(() => confirmAmount(redirect as never, { currency: 'UGX', amount: 1 })).toThrow(
          ConfigurationError,
        );
      }),
    );
  });
});

describe('threat A14, threat A15: one query, several readings', () => {
  test('threat A14: a repeated signed name is refused, in every spelling', () => {
    const names = [
      'event',
      'merchant_reference',
      'internal_reference',
      'transaction_type',
      'transaction_status',
    ];
    const spellings = names.flatMap((name) => [
      name,
      `${name}[]`,
      `${name}[0]`,
      encodeURIComponent(`${name}[]`),
    ]);
    const nested = names.slice(1).map((name) => `payload[${name}]`);
    fc.assert(
      fc.property(
        fc.constantFrom(...spellings, ...nested, 'hmac_signature', 'hmac_signature[]'),
        fc.webSegment(),
        fc.boolean(),
        (name, value, first) => {
          const query = first ? `${name}=${value}&${QUERY}` : `${QUERY}&${name}=${value}`;
          expect(codeOf(verifier.verifyRedirect(query))).toBe('query_malformed');
        },
      ),
    );
  });

  test('threat A15: a value verifies only as the strict decoder of the platform reads it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.constantFrom('', '%', '%F', '%FF', '%ED%A0%80', '%zz'),
        (text, bad) => {
          fc.pre(text.isWellFormed() && !text.includes(':'));
          const signature = signCallback({
            signingKey: SIGNING_KEY,
            data: callbackData({ merchant_reference: text }),
          });
          const query = QUERY.replace('ORD-1001', encodeURIComponent(text) + bad).replace(
            SIGNATURE,
            signature,
          );
          const result = verifier.verifyRedirect(query);
          if (bad !== '') expect(codeOf(result)).toBe('query_malformed');
          else expect(accepted(result).signed.merchant_reference).toBe(text);
        },
      ),
    );
  });
});

describe('threat A25: markup and addresses in unsigned text', () => {
  test('threat A25: core has no function that makes HTML or a URL out of a callback', async () => {
    expect(Object.keys(core).filter((name) => /html|render|escape|redirectTo|location/i.test(name))).toEqual(
      [],
    );
    const receiver = createRedirectReceiver({ signingKey: SIGNING_KEY });
    const url = `/return?${QUERY}&status_message=https://evil.example&location=https://evil.example`;
    const received = await receiveRedirect({ method: 'GET', url }, receiver);
    expect(received.redirect?.ok).toBe(true);
    if (received.reply !== undefined) throw new Error('The redirect was not passed through.');
    expect(JSON.stringify(received.headers)).not.toContain('evil');
  });
});

describe('threat A26: a redirect of another session', () => {
  test('threat A26: only the reference that the session expects verifies, and a session without one expects none', () => {
    const verdict = (expectReference: string | undefined) =>
      codeOf(verifier.verifyRedirect(QUERY, { expectReference }));
    expect(verdict('ORD-1001')).toBe('accepted');
    for (const other of ['ORD-1002', 'ord-1001', 'ORD-1001 ', 'ORD-100', '', undefined]) {
      expect(verdict(other)).toBe('reference_unexpected');
    }
    expect(codeOf(verifier.verifyRedirect(QUERY, {}))).toBe('accepted');
    expect(verifier.verifyRedirect(QUERY, { expectReference: 'x' })).toMatchObject({ authentic: true });
  });
});
