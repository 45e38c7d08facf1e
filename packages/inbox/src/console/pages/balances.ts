import { ConfigurationError, NotFoundError } from '@payment-service/core';
import { badge, capital, type Field, html, type Markup, note, tableOf, time } from '@payment-service/pages';
import type { BalanceReport, SettledTotal } from '../../reconciliation/balance-report.ts';
import { chargesIn, kindsIn, type Pairs, pairsIn } from '../../reconciliation/reading/name-value-pairs.ts';
import { endIn, momentIn } from '../../time-zone.ts';
import type { View } from './page.ts';
import { money, moneyText } from './summary.ts';

export const DAYS: readonly Field[] = [
  { name: 'from', label: 'From', type: 'date' },
  { name: 'to', label: 'Until', hint: 'This day is included.', type: 'date' },
];
const HINT = 'How long before and after its settlement here a collection may be credited, in seconds.';
export const BALANCES: readonly Field[] = [
  ...DAYS,
  { name: 'before', label: 'Credited before', hint: HINT, type: 'number' },
  { name: 'after', label: 'Credited after', type: 'number' },
  { name: 'charges', label: 'Shares kept as charges', hint: 'Such as UGX=0..0.03. Empty: anything.' },
  { name: 'kinds', label: 'What other types do', hint: 'Such as PAYOUT=paid_out.' },
];
/** What was settled in a period, and what the wallets gained. */
export async function balances({ inbox, query, timeZone }: View): Promise<Markup> {
  const period = periodIn(query, timeZone);
  const seconds = (name: string): number => Number(query.get(name) || Number.NaN);
  const pairs = (name: string): Pairs | undefined => pairsIn(query.get(name) ?? '');
  const creditedWithin = { secondsBefore: seconds('before'), secondsAfter: seconds('after') };
  const inputs = { kinds: kindsIn(pairs('kinds')), charges: chargesIn(pairs('charges')) };
  try {
    const settled = totals('settled', await inbox.totals(period));
    if (!query.get('before')) return settled;
    return html`${settled}${wallets(await inbox.reconcile({ ...period, creditedWithin, ...inputs }))}`;
  } catch (error) {
    if (error instanceof ConfigurationError || error instanceof NotFoundError)
      return note('bad', error.message);
    throw error;
  }
}

const totals = (name: string, found: readonly SettledTotal[]): Markup =>
  tableOf(
    name,
    ['Type', ['Amount', 'number'], ['Payments', 'number']],
    found,
    ({ transaction_type: type, compare, ...one }) => [
      compare === 'both' ? type : `${type}, compared by its ${compare}`,
      moneyText(one),
      String(one.count),
    ],
  );

const UNEXPLAINED: Readonly<Record<string, string>> = {
  more: 'more than was settled',
  less: 'less than was settled',
};

/** What is wrong with the wallets together. */
function gainsText(found: BalanceReport['wallets']): string {
  const wrong = found.filter(({ verdict }) => verdict !== 'explained');
  if (wrong.length === 0)
    return `The gain of ${found.length === 1 ? 'the wallet' : `all ${found.length} wallets`} is explained.`;
  const texts = wrong.map(({ currency, unexplained, verdict }) =>
    unexplained === undefined
      ? `the ${currency} wallet is not in both balances`
      : `${moneyText({ currency, amount: unexplained.replace('-', '') })} ${UNEXPLAINED[verdict]}`,
  );
  return `${texts.join(', ')}.`;
}

const wallets = (report: BalanceReport): Markup => {
  const { before, after, wallets: found, uncounted } = report;
  return html`<p>Balances recorded at ${time(before.getTime())} and ${time(after.getTime())}.</p>
${
  found.length > 0 &&
  html`<p id="gains"><strong>${gainsText(found)}</strong></p>${tableOf(
    'wallets',
    [
      ...['Wallet', 'Verdict'],
      ...(['Should have gained', 'Gained', 'Unexplained'] as const).map((name) => [name, 'number'] as const),
      'What it means',
    ],
    found,
    ({ wallet_type, currency, verdict, expected: { least, most }, gained, unexplained, message }) => {
      const shown = (amount: string | undefined): Markup | string =>
        amount === undefined ? '' : money({ currency, amount });
      return [
        `${wallet_type} ${currency}`,
        badge(verdict === 'explained' ? 'good' : 'bad', capital(verdict.replace('_', ' '))),
        least === most ? shown(least) : html`${shown(least)} to ${shown(most)}`,
        gained === undefined ? 'no balance' : shown(gained),
        shown(unexplained),
        message,
      ];
    },
  )}`
}
${uncounted.length === 0 ? '' : html`<h3>Settled, but in no interval</h3>${totals('uncounted', uncounted)}`}`;
};

/** Both days are in it. */
export function periodIn(query: URLSearchParams, timeZone: string): { from: Date; to: Date } {
  const invalid = new Date(Number.NaN);
  return {
    from: momentIn(timeZone, query.get('from') ?? '') ?? invalid,
    to: endIn(timeZone, query.get('to') ?? '') ?? invalid,
  };
}
