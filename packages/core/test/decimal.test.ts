import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compareDecimals,
  type Decimal,
  formatDecimal,
  negated,
  parseDecimal,
  productOf,
  sumOf,
} from '../src/money/decimal.ts';

function decimal(text: string): Decimal {
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error(`not a decimal: ${text}`);
  return parsed;
}

test.each([
  ['500', '5e2', 0],
  ['007', '7', 0],
  ['0.30000000000000004', '0.3', 1],
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
  ...['', ' 5', '5 ', '5\n', '1'.repeat(1001)],
  ...'+5 .5 5. 1,000 0x10 NaN Infinity 1e99999 ١٢ x5 5e'.split(' '),
])('%j is not a decimal', (text) => {
  expect(parseDecimal(text)).toBeUndefined();
});

test('sums, products and negated values agree with bigint arithmetic, and have no zero at either end', () => {
  const parts = fc.tuple(fc.bigInt({ min: -5000n, max: 5000n }), fc.integer({ min: -4, max: 4 }));
  const read = ([units, power]: readonly [bigint, number]): Decimal => decimal(`${units}e${power}`);
  /** In units of 10^-8. */
  const units = ({ negative, digits, exponent }: Decimal): bigint => {
    expect(digits).toMatch(/^([1-9](\d*[1-9])?)?$/);
    if (digits === '') expect([negative, exponent]).toEqual([false, 0]);
    return BigInt(negative ? -1 : 1) * BigInt(digits) * 10n ** BigInt(exponent + 8);
  };
  fc.assert(
    fc.property(fc.array(parts), parts, parts, (all, left, right) => {
      const total = sumOf(all.map(read));
      expect(units(total)).toBe(all.map((part) => units(read(part))).reduce((sum, each) => sum + each, 0n));
      const order = units(read(left)) - units(read(right));
      expect(compareDecimals(read(left), read(right))).toBe(order === 0n ? 0 : order < 0n ? -1 : 1);
      expect(units(productOf(read(left), read(right))) * 10n ** 8n).toBe(
        units(read(left)) * units(read(right)),
      );
      expect(units(negated(read(left)))).toBe(-units(read(left)));
    }),
  );
});

test.each([
  ['-1999.90', '-1999.9'],
  ['00.050', '0.05'],
  ['-0012.50', '-12.5'],
  ['100', '100'],
  ['-0.00', '0'],
  ['0e5', '0'],
  ['12e30', `12${'0'.repeat(30)}`],
  ['12e31', '12e31'],
  ['-12e-32', `-0.${'0'.repeat(30)}12`],
  ['12e-33', '12e-33'],
  ['1e+2', '100'],
  [`${'1'.repeat(999)}0`, `${'1'.repeat(999)}0`],
])('the canonical string of %s is %s', (text, canonical) => {
  expect(formatDecimal(decimal(text))).toBe(canonical);
});
