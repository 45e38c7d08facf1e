import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AmountMismatchError,
  assertAmount,
  canonicalAmount,
  confirmAmount,
  createVerifier,
  type ExpectedAmount,
  PaymentServiceError,
  type VerifiedCallback,
} from '../src/index.ts';
import { sampleCallback, signCallback } from '../src/testing.ts';

const signingKey = 'KEY-FOR-AMOUNTS-1';
const verifier = createVerifier({ signingKey });

function verify(payload: Parameters<typeof sampleCallback>[0]): VerifiedCallback {
  const data = sampleCallback(payload);
  const result = verifier.verifyCallback({ signature: signCallback({ signingKey, data }), body: data });
  if (!result.ok) throw new Error(result.code);
  return result;
}

/** What a merchant writes who forgets to look at a result: the credit is the next line. */
function creditedBy(callback: VerifiedCallback, expected: ExpectedAmount): string | undefined {
  let credited: string | undefined;
  try {
    const payment = assertAmount(callback, expected);
    credited = `${payment.currency} ${payment.amount}`;
  } catch (error) {
    if (!(error instanceof AmountMismatchError)) throw error;
  }
  return credited;
}

const amount = fc.constantFrom(500, 499, 5_000_000, 0, -500, 500.5);
const currency = fc.constantFrom('UGX', 'KES', 'ugx', '');
const payloads = fc.record({
  request_amount: amount,
  transaction_amount: amount,
  request_currency: currency,
  transaction_currency: currency,
  transaction_type: fc.constantFrom('COLLECTION', 'PAYOUT'),
  transaction_status: fc.constantFrom('COMPLETED', 'FAILED', 'PENDING'),
});
const expectations = fc.record({
  currency: fc.constantFrom('UGX', 'KES'),
  amount: fc.constantFrom('500', '500.00', 500n, 499, '5e6'),
  compare: fc.constantFrom('both', 'request', 'transaction', undefined),
  transaction_type: fc.constantFrom('COLLECTION', 'PAYOUT', undefined),
});

describe('threat A54: a check of money whose result is forgotten', () => {
  test('assertAmount() throws exactly where confirmAmount() is not ok, with the same mismatches', () => {
    let confirmed = 0;
    const matching: Parameters<typeof sampleCallback>[0] = {};
    fc.assert(
      fc.property(
        fc.oneof(
          payloads.map((payload) => ({ payload })),
          fc.constant(matching),
        ),
        fc.oneof(expectations, fc.constant<ExpectedAmount>({ currency: 'UGX', amount: '500.0' })),
        (changed, expected) => {
          const callback = verify(changed);
          const result = confirmAmount(callback, expected);
          if (result.ok) {
            confirmed += 1;
            expect(creditedBy(callback, expected)).toBe(
              `${expected.currency} ${canonicalAmount(expected.amount)}`,
            );
          } else {
            expect(creditedBy(callback, expected)).toBeUndefined();
            expect(() => assertAmount(callback, expected)).toThrow(
              expect.objectContaining({ mismatches: result.mismatches }),
            );
          }
        },
      ),
      { numRuns: 1000 },
    );
    expect(confirmed).toBeGreaterThan(50);
  });

  test('the amount to credit is the one that was expected, even where only one claim is compared', () => {
    const callback = verify({ payload: { transaction_amount: 5_000_000 } });
    const expected = { currency: 'UGX', amount: '500.00', compare: 'request', isPaid: false } as const;
    expect(assertAmount(callback, expected)).toEqual({ currency: 'UGX', amount: '500' });
  });

  test('control: a result that is an object is true in a condition, whether it is ok or not', () => {
    const result = confirmAmount(verify({ payload: { request_amount: 1 } }), {
      currency: 'UGX',
      amount: 500,
    });
    expect([result.ok, Boolean(result)]).toEqual([false, true]);
  });
});

describe('the error of assertAmount()', () => {
  const callback = verify({
    payload: {
      request_amount: 731,
      transaction_currency: 'KES',
      transaction_account: '256772999999',
      customer_name: 'Anna Example',
    },
  });

  test('names what differs and what to do', () => {
    expect(() => assertAmount(callback, { currency: 'UGX', amount: '500' })).toThrow(
      expect.objectContaining({
        name: 'AmountMismatchError',
        code: 'amount_mismatch',
        message:
          'The callback is not the payment that was expected: request_amount (different), transaction_currency (different). ' +
          'Do not credit it. Hold it for manual review and return normally: an error thrown in the handler asks the sender to retry.',
      }),
    );
  });

  test('holds no value of the callback or of the expectation', () => {
    try {
      assertAmount(callback, { currency: 'UGX', amount: '500' });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(PaymentServiceError);
      const shown = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error);
      expect(shown).toContain('request_amount');
      expect(shown.replace(/at .*\n?/g, '')).not.toMatch(/731|KES|UGX|256772|Anna|ORD-|INT-/);
    }
  });

  test('says where a rounded amount can be read exactly', () => {
    const data = sampleCallback({ payload: { request_amount: Number.MAX_SAFE_INTEGER } });
    const rounded = verifier.verifyCallback({ signature: signCallback({ signingKey, data }), body: data });
    if (!rounded.ok) throw new Error(rounded.code);
    const expected = { currency: 'UGX', amount: `${Number.MAX_SAFE_INTEGER}`, compare: 'request' } as const;
    expect(() => assertAmount(rounded, expected)).toThrow(
      'request_amount (inexact: a body parser has rounded it; mount the route before the parser)',
    );
  });
});
