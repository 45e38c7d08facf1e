import { expectTypeOf, test } from 'vitest';
import { assertAmount, type ConfirmedAmount, confirmAmount, type VerifiedCallback } from '../src/index.ts';

// Compiled, never run: `tsc` is the test.
declare const callback: VerifiedCallback;
const order = { currency: 'UGX', amount: '500', isPaid: false };

test('threat A54: assertAmount() returns the money to credit', () => {
  expectTypeOf(assertAmount(callback, order)).toEqualTypeOf<ConfirmedAmount>();
  expectTypeOf(assertAmount(callback, order).amount).toEqualTypeOf<string>();
});

test('threat A54: the result of confirmAmount() has no money, so that there is nothing to credit before ok is read', () => {
  const confirmation = confirmAmount(callback, order);
  // @ts-expect-error: a confirmation is not money
  confirmation.amount;
  // @ts-expect-error: mismatches exist only where it is not ok
  confirmation.mismatches;
});
