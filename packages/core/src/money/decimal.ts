/** An exact decimal number: (-1)^negative · digits · 10^exponent. `digits` has no zero at either end and is empty for zero. */
export interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

const LITERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;
const MAX_LENGTH = 1000;
const MAX_ZEROS = 30;
/** Every decimal of up to 15 significant digits survives a conversion to a double and back; longer ones may not. */
const EXACT_DIGITS = 15;

/** Reads a decimal, JSON numbers included; undefined for anything else. Never passes through a float. */
export function parseDecimal(text: string): Decimal | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const match = LITERAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = match;
  return decimal(sign === '-', (whole + fraction).replace(/^0+/, ''), Number(power) - fraction.length);
}

/** @param significant Trailing zeros move to the exponent. Not by a regular expression, which would restart at each zero. */
function decimal(negative: boolean, significant: string, power: number): Decimal {
  let end = significant.length;
  while (significant[end - 1] === '0') end--;
  if (end === 0) return { negative: false, digits: '', exponent: 0 };
  return { negative, digits: significant.slice(0, end), exponent: power + significant.length - end };
}

/** A number is accepted only if its shortest string is exact: at most 15 significant digits. */
export function decimalFrom(value: unknown): Decimal | undefined {
  if (typeof value === 'string') return parseDecimal(value);
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined; // Never the text of an object.
  const decimal = parseDecimal(String(value));
  const isExact =
    typeof value === 'bigint' || (decimal !== undefined && decimal.digits.length <= EXACT_DIGITS);
  return isExact ? decimal : undefined;
}

/** Adding up larger exponents costs more than it is worth. No double reaches it, except for zero. */
export const MAX_EXPONENT = 1000;

/** Like `decimalFrom()`, but only for values that can be added up. */
export function boundedDecimal(value: unknown): Decimal | undefined {
  const decimal = decimalFrom(value);
  return decimal !== undefined && Math.abs(decimal.exponent) <= MAX_EXPONENT ? decimal : undefined;
}

/** The canonical form: equal numbers have equal strings. Plain digits, or an exponent instead of many zeros. */
export function formatDecimal({ negative, digits, exponent }: Decimal): string {
  const sign = negative ? '-' : '';
  if (digits === '') return '0';
  if (exponent > MAX_ZEROS || exponent < -MAX_ZEROS - digits.length) return `${sign}${digits}e${exponent}`;
  if (exponent >= 0) return sign + digits + '0'.repeat(exponent);
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

/** Compares exactly: -1, 0 or 1, as a sort function returns. */
export function compareDecimals(left: Decimal, right: Decimal): -1 | 0 | 1 {
  const difference = differenceOf(left, [right]);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** Exact. */
export function sumOf(parts: readonly Decimal[]): Decimal {
  const exponent = smallestExponent(0, parts);
  return scaled(-differenceOf({ negative: false, digits: '', exponent }, parts), exponent);
}

/** Exact. */
export function productOf(left: Decimal, right: Decimal): Decimal {
  const units = BigInt(left.digits) * BigInt(right.digits);
  return scaled(left.negative === right.negative ? units : -units, left.exponent + right.exponent);
}

/** `units` times 10^exponent. */
function scaled(units: bigint, exponent: number): Decimal {
  return decimal(units < 0n, String(units).replace('-', ''), exponent);
}

export function negated(value: Decimal): Decimal {
  return { ...value, negative: value.digits !== '' && !value.negative };
}

/** `total` minus the parts, in units of the smallest exponent among them. */
function differenceOf(total: Decimal, parts: readonly Decimal[]): bigint {
  const smallest = smallestExponent(total.exponent, parts);
  const whole = ({ negative, digits, exponent }: Decimal): bigint =>
    BigInt(digits) * 10n ** BigInt(exponent - smallest) * (negative ? -1n : 1n);
  return parts.reduce((rest, part) => rest - whole(part), whole(total));
}

/** Not spread: there may be more parts than a call can take arguments. */
function smallestExponent(start: number, parts: readonly Decimal[]): number {
  return parts.reduce((smallest, { exponent }) => Math.min(smallest, exponent), start);
}
