import { ConfigurationError } from '@payment-service/core';
import {
  badge,
  bullets,
  capital,
  type Field,
  html,
  type Markup,
  note,
  tableOf,
  time,
  utc,
} from '@payment-service/pages';
import type { BalanceReport, SettledTotal } from '../../reconciliation/balances.ts';
import { chargesIn, kindsIn, type Pairs, pairsIn } from '../../reconciliation/pairs.ts';
import type { View } from './page.ts';
import { money, moneyText } from './summary.ts';

const DAY_MS = 86_400_000;
export const DAYS: readonly Field[] = [
  { name: 'from', label: 'From', type: 'date' },
  { name: 'to', label: 'Until', hint: 'This day is included (UTC).', type: 'date' },
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
export async function balances({ inbox, query }: View): Promise<Markup> {
  const period = periodIn(query);
  const seconds = (name: string): number => Number(query.get(name) || Number.NaN);
  const pairs = (name: string): Pairs | undefined => pairsIn(query.get(name) ?? '');
  const creditedWithin = { secondsBefore: seconds('before'), secondsAfter: seconds('after') };
  const inputs = { kinds: kindsIn(pairs('kinds')), charges: chargesIn(pairs('charges')) };
  try {
    const settled = totals('settled', await inbox.totals(period));
    if (!query.get('before')) return settled;
    return html`${settled}${wallets(await inbox.reconcile({ ...period, creditedWithin, ...inputs }))}`;
  } catch (error) {
    if (error instanceof ConfigurationError) return note('bad', error.message);
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

/** The gain of each wallet against the interval that it should be in. */
function gains({ before, after, wallets: found }: BalanceReport): Markup {
  const wrong = found.filter(({ verdict }) => verdict !== 'explained');
  const nameOf = ({ wallet_type: type, currency }: (typeof found)[number]): string => `${type} ${currency}`;
  const text = (currency: string, amount: string): string => moneyText({ currency, amount });
  return bullets({
    id: 'gains',
    title:
      wrong.length === 0
        ? `The gain of ${found.length === 1 ? 'the wallet' : `all ${found.length} wallets`} is explained`
        : wrong
            .map(({ currency, unexplained, verdict }) =>
              unexplained === undefined
                ? `the ${currency} wallet is not in both balances`
                : `${text(currency, unexplained.replace('-', ''))} ${UNEXPLAINED[verdict]}`,
            )
            .join(', '),
    note: `What each wallet gained from ${utc(before.getTime())} to ${utc(after.getTime())}, and what it should have gained.`,
    rows: found.map((one) => ({
      name: nameOf(one),
      least: Number(one.expected.least),
      most: Number(one.expected.most),
      value: one.gained === undefined ? undefined : Number(one.gained),
      text: one.gained === undefined ? 'no balance' : `gained ${text(one.currency, one.gained)}`,
    })),
    legend: [
      ['neutral', 'should have gained'],
      ['accent', 'gained'],
      ['bad', 'unexplained'],
    ],
    figures: [
      ['Wallet', 'At least', 'At most', 'Gained', 'Unexplained'],
      ...found.map((one) => [
        nameOf(one),
        text(one.currency, one.expected.least),
        text(one.currency, one.expected.most),
        one.gained === undefined ? '' : text(one.currency, one.gained),
        one.unexplained === undefined ? '' : text(one.currency, one.unexplained),
      ]),
    ],
  });
}

const wallets = (report: BalanceReport): Markup => {
  const { before, after, wallets: found, uncounted } = report;
  return html`<p>Balances recorded at ${time(before.getTime())} and ${time(after.getTime())}.</p>
${
  found.length > 0 &&
  html`<div class="charted">${gains(report)}<div>${tableOf(
    'wallets',
    ['Wallet', 'Verdict', ['Unexplained', 'number'], 'What it means'],
    found,
    (one) => [
      `${one.wallet_type} ${one.currency}`,
      badge(one.verdict === 'explained' ? 'good' : 'bad', capital(one.verdict.replace('_', ' '))),
      one.unexplained === undefined ? '' : money({ currency: one.currency, amount: one.unexplained }),
      one.message,
    ],
  )}</div></div>`
}
${uncounted.length === 0 ? '' : html`<h3>Settled, and in no interval</h3>${totals('uncounted', uncounted)}`}`;
};

/** Both days are in it (UTC). */
export function periodIn(query: URLSearchParams): { from: Date; to: Date } {
  const day = (name: string): number => new Date(`${query.get(name)}T00:00Z`).getTime();
  return { from: new Date(day('from')), to: new Date(day('to') + DAY_MS) };
}
