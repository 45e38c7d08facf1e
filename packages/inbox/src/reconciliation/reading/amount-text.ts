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
/** How the countries of a currency write it, besides its code and its sign; in lower case, without points and spaces. */
const HOME_SIGNS: Readonly<Record<string, readonly string[]>> = {
  KES: ['ksh', 'kshs', '/=', '/-'],
  UGX: ['ush', 'ushs', 'shs', '/=', '/-'],
  TZS: ['tsh', 'tshs', '/=', '/-'],
  RWF: ['frw', 'rf'],
  XAF: ['fcfa'],
  XOF: ['fcfa'],
};
/** The marks before and after the digits of money that came in, and of money that went out. */
const SIGNS = {
  in: ['+ ', ' +', ' cr', 'cr '],
  out: ['- ', '\u2212 ', ' -', ' \u2212', '( )', ' dr', 'dr '],
} as const;
const ALL_SIGNS: readonly string[] = [' ', ...SIGNS.in, ...SIGNS.out];

/** An amount as a statement writes it. */
export interface AmountText {
  /** Plain digits; as it was written if it is ambiguous. */
  readonly amount: string;
  /** It has a sign, parentheses, or DR or CR beside it: true for money out. */
  readonly isOut: boolean | undefined;
}

/** A thousand in one country, and one in another. */
export const isAmbiguousAmount = (text: unknown): boolean =>
  typeof text === 'string' && /^[1-9]\d{0,2}(?:[.,]\d{3}|(?:[.,]\d{3}){2,})$/.test(text);

export const isPlainAmount = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= MAX_DIGITS && PLAIN.test(text) && !isAmbiguousAmount(text);

/**
 * The amount of a statement in plain digits, without its sign and its currency, which must be that of the row. Without `decimal`,
 * an amount that is ambiguous stays as it is, and is a verdict of its line.
 *
 * @returns undefined for text that is no amount.
 */
export function amountIn(
  text: string,
  { decimal, currency }: { readonly decimal: DecimalMark | undefined; readonly currency: string | undefined },
): AmountText | undefined {
  // Searched from both ends, and measured before anything else looks at it: one expression for all parts of a cell tries every
  // way to divide a cell of spaces (threat A67).
  const start = text.search(/\d/);
  let end = text.length;
  while (end > start && !/\d/.test(text.charAt(end - 1))) end -= 1;
  const digits = text.slice(start, end);
  if (start < 0 || digits.length > MAX_DIGITS || /[a-z\p{Sc}]/iu.test(digits)) return undefined;
  const own = signsOf(currency, decimal !== undefined);
  const before = normal(text.slice(0, start));
  const after = normal(text.slice(end));
  const around = [`${before} ${after}`, ...own.flatMap((sign) => without(sign, before, after))];
  const sign = around.find((marks) => ALL_SIGNS.includes(marks));
  const amount = sign === undefined ? undefined : plainDigits(digits, decimal);
  if (sign === undefined || amount === undefined) return undefined;
  return { amount, isOut: sign === ' ' ? undefined : SIGNS.out.some((one) => one === sign) };
}

/** What is left beside the digits without the sign of a currency, which is at one end of one of the two parts. */
function without(sign: string, before: string, after: string): string[] {
  return [
    ...(before.startsWith(sign) ? [`${before.slice(sign.length)} ${after}`] : []),
    ...(before.endsWith(sign) ? [`${before.slice(0, -sign.length)} ${after}`] : []),
    ...(after.startsWith(sign) ? [`${before} ${after.slice(sign.length)}`] : []),
    ...(after.endsWith(sign) ? [`${before} ${after.slice(0, -sign.length)}`] : []),
  ];
}

function plainDigits(digits: string, decimal: DecimalMark | undefined): string | undefined {
  if (decimal === undefined) return isAmbiguousAmount(digits) || PLAIN.test(digits) ? digits : undefined;
  if (!NOTATIONS[decimal].test(digits)) return undefined;
  const [mark, other] = decimal === 'point' ? ['.', ','] : [',', '.'];
  const plain = digits
    .replace(/[' \u00a0\u2009\u202f\u2019]/g, '')
    .replaceAll(other, '')
    .replace(mark, '.');
  return canonicalAmount(plain);
}

/** A point after a letter is of an abbreviation, `KSh.`; another one may be in front of decimals, `.50`. */
const normal = (text: string): string =>
  text
    .replace(/\s/g, '')
    .replace(/(?<=\p{L})\./gu, '')
    .toLowerCase();

/** Of each currency: a statement asks for one or two of them in every line. */
const known = new Map<string, readonly string[]>();

function signsOf(currency: string | undefined, isMarkStated: boolean): readonly string[] {
  if (currency === undefined || !/^[A-Z]{3}$/.test(currency)) return [];
  const signs = known.get(currency) ?? [currency, ...symbolsOf(currency)].map(normal);
  known.set(currency, signs);
  return signs.concat(isMarkStated ? (HOME_SIGNS[currency] ?? []) : []);
}

const symbolsOf = (currency: string): string[] =>
  (['symbol', 'narrowSymbol'] as const).map(
    (currencyDisplay) =>
      new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay })
        .formatToParts(0)
        .find(({ type }) => type === 'currency')?.value ?? currency,
  );
