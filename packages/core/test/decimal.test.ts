import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareDecimals, type Decimal, decimalFrom, parseDecimal } from '../src/money/decimal.ts';

function decimal(text: string): Decimal {
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error(`not a decimal: ${text}`);
  return parsed;
}

describe('exact decimals', () => {
  test.each([
    ['500', '500.00', 0],
    ['500', '5e2', 0],
    ['0.1', '1E-1', 0],
    ['007', '7', 0],
    ['-0', '0', 0],
    ['0.30000000000000004', '0.3', 1],
    ['9007199254740993', '9007199254740992', 1],
    ['1e400', '1e399', 1],
    ['1e-400', '0', 1],
    ['-2', '-1', -1],
    ['-1', '1', -1],
    ['99.99', '100', -1],
  ] as const)('%s compared with %s is %i', (left, right, order) => {
    expect(compareDecimals(decimal(left), decimal(right))).toBe(order);
    expect(compareDecimals(decimal(right), decimal(left)) + order).toBe(0);
  });

  test.each([
    '',
    ' 5',
    '5 ',
    '+5',
    '.5',
    '5.',
    '1,000',
    '0x10',
    'NaN',
    'Infinity',
    '1e99999',
    '١٢',
    '5\n',
    '1'.repeat(1001),
  ])('%j is not a decimal', (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });

  test('comparison agrees with bigint arithmetic on a common scale', () => {
    const cents = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
    const text = (value: bigint): string => {
      const digits = (value < 0n ? -value : value).toString().padStart(3, '0');
      return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
    };
    fc.assert(
      fc.property(cents, cents, (left, right) => {
        expect(compareDecimals(decimal(text(left)), decimal(text(right)))).toBe(
          left < right ? -1 : left > right ? 1 : 0,
        );
      }),
    );
  });

  test('a number is accepted only while its string is exact', () => {
    expect(decimalFrom(1999.9)).toEqual(decimal('1999.90'));
    expect(decimalFrom(123456789012345)).toEqual(decimal('123456789012345'));
    expect(decimalFrom(9007199254740993n)).toEqual(decimal('9007199254740993'));
    for (const value of [0.1 + 0.2, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(decimalFrom(value)).toBeUndefined();
    }
  });
});
