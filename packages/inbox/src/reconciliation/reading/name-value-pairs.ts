import type { BalanceOptions } from '../balance-report.ts';

/** Strings by their names, such as `amount=Total,currency=Code`. */
export type Pairs = Readonly<Record<string, string>>;

/** undefined unless it is `name=value`, or several of these separated by commas. */
export function pairsIn(text: string): Pairs | undefined {
  const parts = text.split(',').map((part) => /^([^=]+)=(.+)$/.exec(part.trimStart()));
  if (parts.includes(null)) return undefined;
  return Object.fromEntries(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? '']));
}

/** From `UGX=0..0.03`, the least and the most; from `UGX=0`, both. Checked where they are used. */
export function chargesIn(pairs: Pairs = {}): NonNullable<BalanceOptions['charges']> {
  const shares = Object.entries(pairs).map(([currency, range]) => {
    const [least = '', most = least] = range.split('..');
    return [currency, { least, most }];
  });
  return Object.fromEntries(shares);
}

/** The effects of transaction types: a collection settles unless stated otherwise. Checked where they are used. */
export const kindsIn = (pairs: Pairs = {}): NonNullable<BalanceOptions['kinds']> =>
  ({ COLLECTION: 'settled', ...pairs }) as NonNullable<BalanceOptions['kinds']>;
