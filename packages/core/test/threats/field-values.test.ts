import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signCallback } from '../../src/testing.ts';
import { accepted } from '../accepted.ts';
import { anything } from '../anything.ts';
import { callbackData, SIGNING_KEY } from '../signed-callbacks.ts';
import { codeOf, verify } from './verify.ts';

// Field values that look, stringify or encode like others. Storage against threat A10 belongs to the inbox.

describe('threat A7, threat A8: values that stringify or encode alike', () => {
  test('threat A7, threat A8: a verified field is the string of the body itself, own and well-formed', () => {
    const names = [
      'merchant_reference',
      'internal_reference',
      'transaction_type',
      'transaction_status',
    ] as const;
    fc.assert(
      fc.property(fc.constantFrom(...names), anything, (name, value) => {
        const asText = coerced(value);
        const data = callbackData({ [name]: asText });
        const signature = signCallback({ signingKey: SIGNING_KEY, data });
        const result = verify({ event: data.event, payload: { ...data.payload, [name]: value } }, signature);
        const isProper = typeof value === 'string' && value.isWellFormed();
        if (!isProper) expect(codeOf(result)).toBe('signed_field_malformed');
        else if (value.includes(':')) expect(codeOf(result)).toBe('ambiguous');
        else expect(accepted(result).signed[name]).toBe(value);
      }),
      { numRuns: 500 },
    );
  });

  /** What a coercing verifier would sign for the value. */
  function coerced(value: unknown): string {
    try {
      return String(value).toWellFormed();
    } catch {
      return '';
    }
  }
});

describe('threat A9: normalisation', () => {
  test('threat A9: a string and its normal forms are different references', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD'),
        (text, form) => {
          fc.pre(!text.includes(':') && !text.normalize(form).includes(':'));
          const signature = signCallback({
            signingKey: SIGNING_KEY,
            data: callbackData({ merchant_reference: text }),
          });
          const sent = verify(callbackData({ merchant_reference: text.normalize(form) }), signature);
          expect(codeOf(sent)).toBe(text === text.normalize(form) ? 'accepted' : 'mismatch');
        },
      ),
    );
  });
});

describe('threat A10: an unstorable character in an unsigned field', () => {
  test('threat A10: the callback verifies, and raw has the field unchanged', () => {
    const text = JSON.stringify(callbackData({ customer_name: 'A\0B', status_message: '\ud800' }));
    expect(accepted(verify(text)).raw).toMatchObject({
      payload: { customer_name: 'A\0B', status_message: '\ud800' },
    });
  });
});
