/** What a cell says of its line, in the words of statements. All texts are compared in lower case, without marks at their end. */

/** Lines about the account, not about a payment. */
const TOTALS: readonly string[] = [
  ...['total', 'totals', 'grand total', 'sub total', 'subtotal', 'sub-total', 'sum', 'summe', 'gesamt'],
  ...['totaal', 'somme', 'suma', 'totale', 'jumla'],
  ...[
    'balance',
    'opening balance',
    'closing balance',
    'balance b/f',
    'balance c/f',
    'balance b/d',
    'balance c/d',
  ],
  ...['balance brought forward', 'balance carried forward', 'brought forward', 'carried forward'],
  ...[
    'beginning balance',
    'ending balance',
    'anfangssaldo',
    'endsaldo',
    'saldo',
    'solde',
    'beginsaldo',
    'eindsaldo',
  ],
];
/** Anywhere in a cell: what money without a reference is, if the account itself earns it. */
const INTEREST = /\b(?:interest|zinsen|habenzinsen|int(?:\u00e9|e)r(?:\u00ea|e)ts|rente)\b/i;
/** Anywhere in a cell: what money out beside a payment is, if it does not take the payment back. */
const CHARGES =
  /\b(?:fees?|charges?|commissions?|levy|tax|excise|entgelt|geb(?:\u00fc|ue)hr(?:en)?|frais|kosten)\b/i;

/** Which way money went, by the words that banks print. */
const DIRECTIONS: Readonly<Record<string, 'in' | 'out'>> = {
  ...{
    cr: 'in',
    c: 'in',
    credit: 'in',
    in: 'in',
    '+': 'in',
    bij: 'in',
    h: 'in',
    haben: 'in',
    k: 'in',
    kredit: 'in',
  },
  ...{
    dr: 'out',
    d: 'out',
    debit: 'out',
    out: 'out',
    '-': 'out',
    af: 'out',
    s: 'out',
    soll: 'out',
    debet: 'out',
  },
};

const wordOf = (cell: string): string =>
  cell
    .trim()
    .toLowerCase()
    .replace(/[\s:.]+$/, '')
    .replace(/\s+/g, ' ');

export const isTotal = (cell: string): boolean => TOTALS.includes(wordOf(cell));
export const isInterest = (cell: string): boolean => INTEREST.test(cell);
export const isCharge = (cell: string): boolean => CHARGES.test(cell);
export const directionOf = (cell: string): 'in' | 'out' | undefined =>
  Object.hasOwn(DIRECTIONS, wordOf(cell)) ? DIRECTIONS[wordOf(cell)] : undefined;

/** Names of columns that probably have a field; the first that matches is proposed, and never applied. */
const NAMES: readonly (readonly [field: string, name: RegExp])[] = [
  [
    'merchant_reference',
    /merchant.?ref|order|invoice|bill.?ref|account.?ref|a\/c|your.?ref|^reference$|^ref\.?$/i,
  ],
  ['internal_reference', /internal.?ref|receipt|trans(?:action)?.?(?:id|no|ref)|^id$/i],
  ['transaction_type', /^(?:transaction.?)?type$/i],
  ['transaction_status', /status|^state$/i],
  ['currency', /currency|^ccy$|w\u00e4hrung|devise/i],
  ['credit', /credit|paid.?in|deposit|haben|bij|money.?in/i],
  ['debit', /debit|paid.?out|withdraw|soll|money.?out/i],
  ['direction', /^(?:dr\/?cr|cr\/?dr|d\/c|c\/d|sign|direction|soll\/haben|af.?bij)$/i],
  ['amount', /amount|betrag|bedrag|montant|value(?!.?date)|^sum$/i],
];

/** @returns by field, the name of the column that probably has it. */
export function proposedMap(columns: readonly string[]): Record<string, string> {
  const proposed: Record<string, string> = {};
  for (const [field, name] of NAMES) {
    const found = columns.find((column) => name.test(column) && !Object.values(proposed).includes(column));
    if (found !== undefined) proposed[field] = found;
  }
  // One column with a word for the direction, or two with amounts, or one with a sign.
  if (proposed['credit'] !== undefined && proposed['debit'] !== undefined) delete proposed['amount'];
  else if (proposed['amount'] !== undefined) {
    delete proposed['credit'];
    delete proposed['debit'];
  }
  return proposed;
}
