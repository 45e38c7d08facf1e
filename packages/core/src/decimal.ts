/** An exact decimal number: (-1)^negative · digits · 10^exponent. `digits` has no zero at either end; zero has none. */
export interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

const LITERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;
const LONGEST = 1000;
const LONGEST_ZEROS = 30;
/** Every decimal text of up to 15 significant digits survives the way through a double; longer ones may not. */
const EXACT_DIGITS = 15;

/** Reads a decimal text, JSON numbers included, or answers undefined. Never passes through a float. */
export function parseDecimal(text: string): Decimal | undefined {
  if (text.length > LONGEST) return undefined;
  const match = LITERAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = match;
  const significant = (whole + fraction).replace(/^0+/, '');
  const digits = significant.replace(/0+$/, '');
  if (digits === '') return { negative: false, digits, exponent: 0 };
  const exponent = Number(power) - fraction.length + (significant.length - digits.length);
  return { negative: sign === '-', digits, exponent };
}

/** A number counts only while its shortest text is exact: at most 15 significant digits. */
export function decimalFrom(value: string | number | bigint): Decimal | undefined {
  if (typeof value === 'string') return parseDecimal(value);
  const decimal = parseDecimal(String(value));
  const isExact =
    typeof value === 'bigint' || (decimal !== undefined && decimal.digits.length <= EXACT_DIGITS);
  return isExact ? decimal : undefined;
}

/** Canonical text: equal numbers give equal texts. Plain digits, or an exponent where zeros would run long. */
export function formatDecimal({ negative, digits, exponent }: Decimal): string {
  const sign = negative ? '-' : '';
  if (digits === '') return '0';
  if (exponent > LONGEST_ZEROS || exponent < -LONGEST_ZEROS - digits.length)
    return `${sign}${digits}e${exponent}`;
  if (exponent >= 0) return sign + digits + '0'.repeat(exponent);
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

/** -1, 0 or 1, as for a sort. Exact, and never expands an exponent. */
export function compareDecimals(left: Decimal, right: Decimal): -1 | 0 | 1 {
  if (left.negative !== right.negative) return left.negative ? -1 : 1;
  const magnitude = compareMagnitudes(left, right);
  return left.negative && magnitude !== 0 ? (magnitude === 1 ? -1 : 1) : magnitude;
}

function compareMagnitudes(left: Decimal, right: Decimal): -1 | 0 | 1 {
  if (left.digits === '' || right.digits === '') {
    return left.digits === right.digits ? 0 : left.digits === '' ? -1 : 1;
  }
  const height = left.digits.length + left.exponent - (right.digits.length + right.exponent);
  if (height !== 0) return height < 0 ? -1 : 1;
  if (left.digits === right.digits) return 0;
  const length = Math.max(left.digits.length, right.digits.length);
  return left.digits.padEnd(length, '0') < right.digits.padEnd(length, '0') ? -1 : 1;
}
