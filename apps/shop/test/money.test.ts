import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMoney, multiply } from '../src/books/order.ts';

test.each([
  ['18000', 999, '17982000'],
  ['9007199254740993', 3, '27021597764222979'],
])('%s times %i is %s, exactly', (amount, quantity, product) => {
  expect(multiply({ currency: 'USD', amount }, quantity)).toEqual({ currency: 'USD', amount: product });
});

test('multiplication of money equals repeated addition', () => {
  void fc.assert(
    fc.property(fc.nat(9_999_999), fc.integer({ min: 1, max: 999 }), (cents, quantity) => {
      const text = (minor: bigint): string => `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`;
      const { amount } = multiply({ currency: 'USD', amount: text(BigInt(cents)) }, quantity);
      expect(amount).toBe(text(BigInt(cents) * BigInt(quantity)));
    }),
  );
});

test.each([
  ['UGX', '300', 'UGX\u00a0300'],
  ['UGX', '18000', 'UGX\u00a018,000'],
  ['USD', '1234567.50', 'USD\u00a01,234,567.50'],
  ['UGX', 52_380, 'UGX\u00a052,380'],
  ['KES', 0.5, 'KES\u00a00.5'],
  ['KES', 0, 'KES\u00a00'],
  ['KES', '0.00', 'KES\u00a00.00'],
])('%s %s is shown as %s', (currency, amount, text) => {
  expect(formatMoney({ currency, amount })).toBe(text);
});
