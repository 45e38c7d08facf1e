/** An amount in whole units of its currency, as a decimal string: "18000", "12.50". No sum ever goes through a float. */
export interface Money {
  readonly currency: string;
  readonly amount: string;
}

/** The price of several, exactly. */
export function multiply({ currency, amount }: Money, quantity: number): Money {
  const [whole = '', fraction = ''] = amount.split('.');
  const digits = String(BigInt(whole + fraction) * BigInt(quantity)).padStart(fraction.length + 1, '0');
  const point = digits.length - fraction.length;
  return { currency, amount: fraction === '' ? digits : `${digits.slice(0, point)}.${digits.slice(point)}` };
}

/**
 * For people: "UGX 18,000" with a no-break space and unchanged decimals. Accepts the wire's numbers and our decimal strings.
 */
export function formatMoney(currency: string, amount: string | number): string {
  const [whole = '', ...rest] = String(amount).split('.');
  return `${currency}\u00a0${[whole.replace(/\B(?=(\d{3})+$)/g, ','), ...rest].join('.')}`;
}
