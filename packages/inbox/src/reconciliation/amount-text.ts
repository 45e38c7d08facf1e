import { canonicalAmount } from '@payment-service/core';

export const DECIMALS = ['point', 'comma'] as const;
/** The mark in front of the decimals of an amount. */
export type DecimalMark = (typeof DECIMALS)[number];

const MAX_DIGITS = 40;
const PLAIN = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** Between groups of three digits, besides the mark that is not in front of decimals. The spaces are those of exports. */
const NOTATIONS = {
  point: /^(?:\d+|\d{1,3}([,' \u00a0\u2009\u202f\u2019])\d{3}(?:\1\d{3})*)(?:\.\d+)?$/,
  comma: /^(?:\d+|\d{1,3}([.' \u00a0\u2009\u202f\u2019])\d{3}(?:\1\d{3})*)(?:,\d+)?$/,
} as const;

/** A thousand in one country, and one in another. */
export const isAmbiguousAmount = (text: unknown): boolean =>
  typeof text === 'string' && /^[1-9]\d{0,2}(?:[.,]\d{3}|(?:[.,]\d{3}){2,})$/.test(text);

export const isPlainAmount = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= MAX_DIGITS && PLAIN.test(text) && !isAmbiguousAmount(text);

/**
 * The amount of a statement in plain digits, without its currency, which must be that of the row. Without `decimal`, an amount
 * that has another mark than a point, or that is ambiguous, stays as it is, and is a verdict of its row.
 *
 * @returns undefined for text that is no amount.
 */
export function plainAmount(
  text: string | undefined,
  { decimal, currency }: { readonly decimal: DecimalMark | undefined; readonly currency: string | undefined },
): string | undefined {
  const digits = withoutCurrency(text?.trim() ?? '', currency);
  if (digits === undefined) return undefined;
  if (decimal === undefined) return isAmbiguousAmount(digits) || PLAIN.test(digits) ? digits : undefined;
  if (!NOTATIONS[decimal].test(digits)) return undefined;
  const [mark, other] = decimal === 'point' ? ['.', ','] : [',', '.'];
  const plain = digits
    .replace(/[' \u00a0\u2009\u202f\u2019]/g, '')
    .replaceAll(other, '')
    .replace(mark, '.');
  return canonicalAmount(plain);
}

/**
 * Without the code or the sign of the currency at one of its ends. The digits are searched from both ends, and measured before
 * anything else looks at them: one expression for all three parts tries every way to divide a cell of spaces (threat A67).
 */
function withoutCurrency(text: string, currency: string | undefined): string | undefined {
  const start = text.search(/\d/);
  let end = text.length;
  while (end > start && !/\d/.test(text.charAt(end - 1))) end -= 1;
  const digits = text.slice(start, end);
  if (start < 0 || digits.length > MAX_DIGITS || /[a-z\p{Sc}]/iu.test(digits)) return undefined;
  const signs = [text.slice(0, start).trimEnd(), text.slice(end).trimStart()].filter((sign) => sign !== '');
  if (signs.length > 1) return undefined;
  return signs.every((sign) => signsOf(currency).includes(sign)) ? digits : undefined;
}

function signsOf(currency: string | undefined): readonly string[] {
  if (currency === undefined || !/^[A-Z]{3}$/.test(currency)) return [];
  const signs = (['symbol', 'narrowSymbol'] as const).map(
    (currencyDisplay) =>
      new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay })
        .formatToParts(0)
        .find(({ type }) => type === 'currency')?.value ?? '',
  );
  return [currency, ...signs];
}
