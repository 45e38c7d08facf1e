/** What the words in a cell say about its line. Words are compared in lower case. */

/** Lines about the account, not about a payment. */
const TOTAL = new RegExp(
  `^(?:${[
    '(?:grand |sub[- ]?)?totals?(?: (?:amount|credits?|debits?|paid in|paid out))?|sum|summe|gesamt|totaal|somme|suma|totale|jumla',
    '(?:(?:opening|closing|beginning|ending|available) )?balance(?: (?:[bc]/[fd]|(?:brought|carried) forward))?',
    '(?:brought|carried) forward|(?:anfangs|end|begin|eind)?saldo|solde',
  ].join('|')})$`,
);
/** Anywhere in a cell: what money without a reference is, if the account itself earns it. */
const INTEREST = /\b(?:interest|zinsen|habenzinsen|int(?:\u00e9|e)r(?:\u00ea|e)ts|rente)\b/i;
/** Anywhere in a cell: what money out beside a payment is, if it does not take the payment back. */
const CHARGES =
  /\b(?:fees?|charges?|commissions?|levy|tax|excise|entgelt|geb(?:\u00fc|ue)hr(?:en)?|frais|kosten)\b/i;

/** Which way money went, by the words that banks print. */
export const DIRECTION_WORDS: Readonly<Record<'in' | 'out', readonly string[]>> = {
  in: ['cr', 'c', 'credit', 'in', 'bij', 'h', 'haben', 'k', 'kredit', '+'],
  out: ['dr', 'd', 'debit', 'out', 'af', 's', 'soll', 'debet', '-'],
};

/** Points and colons separate words, and end them. */
const wordOf = (cell: string): string =>
  cell
    .toLowerCase()
    .split(/[\s:.]+/)
    .filter((part) => part !== '')
    .join(' ');

export const isTotal = (cell: string): boolean => TOTAL.test(wordOf(cell));
export const isInterest = (cell: string): boolean => INTEREST.test(cell);
export const isCharge = (cell: string): boolean => CHARGES.test(cell);

/** @param own The words of one statement, as they are written there. */
export function directionOf(
  cell: string,
  own: { readonly in?: readonly string[] | undefined; readonly out?: readonly string[] | undefined },
): 'in' | 'out' | undefined {
  const ways = ['in', 'out'] as const;
  const isKnown = (way: 'in' | 'out'): boolean => DIRECTION_WORDS[way].includes(wordOf(cell));
  return ways.find((way) => own[way]?.includes(cell)) ?? ways.find(isKnown);
}

/** Names of columns that probably have a field; the first that matches is proposed, and never applied. */
const NAMES: Readonly<Record<string, RegExp>> = {
  merchant_reference:
    /merchant.?ref|order|invoice|bill.?ref|account.?ref|a\/c|your.?ref|^reference$|^ref\.?$/i,
  internal_reference: /internal.?ref|receipt|trans(?:action)?.?(?:id|no|ref)|^id$/i,
  transaction_type: /^(?:transaction.?)?type$/i,
  transaction_status: /status|^state$/i,
  currency: /currency|^ccy$|w\u00e4hrung|devise/i,
  credit: /credit|paid.?in|deposit|haben|bij|money.?in/i,
  debit: /debit|paid.?out|withdraw|soll|money.?out/i,
  direction: /^(?:dr\/?cr|cr\/?dr|d\/c|c\/d|sign|direction|soll\/haben|af.?bij)$/i,
  amount: /amount|betrag|bedrag|montant|value(?!.?date)|^sum$/i,
};

/** @returns by field, the column that probably has it: its name, or its number if `map` cannot name it. */
export function proposedMap(columns: readonly string[]): Record<string, string> {
  const found = new Map<string, number>();
  for (const [field, name] of Object.entries(NAMES)) {
    const place = columns.findIndex((column, at) => name.test(column) && ![...found.values()].includes(at));
    if (place >= 0) found.set(field, place);
  }
  // Two columns with amounts, or one with a sign.
  const isTwo = found.has('credit') && found.has('debit');
  for (const field of isTwo ? ['amount'] : found.has('amount') ? ['credit', 'debit'] : [])
    found.delete(field);
  const nameOf = (place: number): string => {
    const [name = '', ...others] = columns.filter((column) => column === columns[place]);
    return others.length > 0 || /[,=]/.test(name) ? `#${place + 1}` : name;
  };
  return Object.fromEntries([...found].map(([field, place]) => [field, nameOf(place)]));
}
