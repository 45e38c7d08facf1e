import { sumOfProducts } from '@payment-service/core/reconcile';
import { counted, html, type Markup, note, tableOf } from '@payment-service/pages';
import type { PaymentCounts, PaymentPage } from '../../operator/payments/list-payments.ts';
import { moneySumsOf, ofType } from '../../operator/payments/sums.ts';
import { dayIn, momentIn } from '../../time-zone.ts';
import { countText, EVIDENCE_WORDS } from '../../words.ts';
import { historyCharts } from './charts.ts';
import { at, consolePage, type View } from './page.ts';
import { paidForm } from './payment.ts';
import { monthLinks } from './payments.ts';
import { moneyText, paymentList, paymentPath, SUMMED } from './summary.ts';

const SHOWN = 5;

/** What was credited, what needs a person, the search of support, and what the last days brought. */
export async function overviewPage(view: View): Promise<Response> {
  const { inbox } = view;
  const counts = await inbox.counts();
  const history = await inbox.history();
  const needed = await inbox.payments({ needed: true, limit: SUMMED });
  const overdue = await inbox.payments({ state: 'overdue', limit: SUMMED });
  const section = (id: string, heading: string, path: string, text: string, page: PaymentPage): Markup =>
    html`<details class="card stack" id="${id}"${id === 'needed' ? html` open` : ''}><summary><h2>${heading}: ${expectedText(page)}</h2></summary>
<p class="quiet">${text} <a href="${at(view, path)}">All<span class="hidden-text"> that are in this list</span></a></p>
${paymentList(view, `${id}-payments`, page.items.slice(0, SHOWN))}</details>`;
  return consolePage(view, {
    title: 'Overview',
    section: '/',
    says: `${countText(counts.needed)} need a person`,
    banners: await banners(view),
    body: html`<div class="tiles" id="counts">${await moneyTiles(view, history.to)}${stateTiles(view, counts, { needed, overdue })}</div>
${paidForm(view, '')}
${historyCharts(history)}
<nav class="actions" aria-label="Payments of a month"><span class="quiet">Payments to download:</span>${monthLinks(view)}</nav>
${needed.items.length === 0 ? note('good', 'Nothing needs a person.', 'No money waits for a decision.') : section('needed', 'Need a person', '/payments?state=needed', 'Each page says what to find out, and what can be done.', needed)}
${overdue.items.length > 0 && section('overdue', 'Overdue', '/payments?state=overdue', 'Not paid by the deadline. Ask the service about them, or cancel them.', overdue)}
${await unreadable(view)}`,
  });
}

/** What was credited today and yesterday, exact. */
async function moneyTiles(view: View, now: Date): Promise<Markup[]> {
  const { inbox, timeZone } = view;
  const begins = (day: string): Date => momentIn(timeZone, day) ?? now;
  const today = begins(dayIn(timeZone, now.getTime()));
  const yesterday = begins(dayIn(timeZone, today.getTime() - 1));
  const days = [
    ['today', { from: today, to: new Date(now.getTime() + 1) }],
    ['yesterday', { from: yesterday, to: today }],
  ] as const;
  const tiles: Markup[] = [];
  for (const [word, period] of days) {
    const own = await inbox.totals(period);
    const payments = own.reduce((sum, one) => sum + one.count, 0);
    // One for each currency and type: a payout is no income, so the two are never added up.
    const byKind = Map.groupBy(own, ({ currency, transaction_type: type }) =>
      JSON.stringify([type, currency]),
    );
    const texts = [...byKind.values()].flatMap((same) => {
      const [one] = same;
      if (one === undefined) return [];
      const amount = sumOfProducts(same.map((each) => [each.amount, 1]));
      return ofType(moneyText({ currency: one.currency, amount }), one.transaction_type);
    });
    tiles.push(
      html`<a class="tile ${own.length === 0 ? 'neutral' : 'good'}" id="${word}" href="${at(view, '/money')}">${texts.length === 0 ? html`<strong>Nothing</strong>` : texts.map((text) => html`<strong class="money">${text}</strong>`)}<div class="quiet">credited ${word} (${timeZone})${payments === 0 ? '' : `, ${counted(payments, 'payment')}`}</div></a>`,
    );
  }
  return tiles;
}

/** Of the payments of a list, by type and currency; "at least" if there are more. */
function expectedText({ items, next }: PaymentPage): string {
  const byType = Map.groupBy(moneySumsOf(items), ({ transaction_type }) => transaction_type);
  const sums = [...byType].map(([type, same]) => {
    const amounts = same.map(({ currency, expected }) => moneyText({ currency, amount: expected }));
    return ofType(`${amounts.join(', ')} expected`, type);
  });
  if (sums.length === 0) return 'no amount is expected';
  return `${next === undefined ? '' : 'at least '}${sums.join('; ')}`;
}

function stateTiles(
  view: View,
  counts: PaymentCounts,
  pages: Readonly<Record<'needed' | 'overdue', PaymentPage>>,
): Markup[] {
  const rows = [
    ['needed', counts.needed === 1 ? 'needs a person' : 'need a person', 'bad', pages.needed],
    ['overdue', 'overdue', 'wait', pages.overdue],
    ['open', 'open', 'info', undefined],
    ['paid', 'paid', 'good', undefined],
  ] as const;
  return rows.map(
    ([state, label, tone, page]) =>
      html`<a class="tile ${counts[state] === 0 ? 'neutral' : tone}" href="${at(view, `/payments?state=${state}`)}"><strong>${countText(counts[state])}</strong><div class="quiet">${label}${page === undefined || page.items.length === 0 ? '' : `: ${expectedText(page)}`}</div></a>`,
  );
}

/** Reports that belong to no payment, since their reference can be read in more than one way. */
async function unreadable(view: View): Promise<Markup | string> {
  const found = await view.inbox.reports({ state: 'quarantined', reason: 'ambiguous', limit: SHOWN });
  if (found.length === 0) return '';
  const { meaning, todo } = EVIDENCE_WORDS;
  return html`<section class="stack" id="unreadable"><h2>Reports that belong to no payment</h2>
<p class="quiet">${meaning} ${todo}</p>
<ul>${found.map(({ signed }) => html`<li><a href="${at(view, paymentPath(signed))}">${signed.merchant_reference}</a></li>`)}</ul></section>`;
}

/** Problems of the inbox as a whole. */
async function banners({ inbox }: View): Promise<Markup | string> {
  const { problems, oldestDueSeconds = 0, spooled = 0 } = await inbox.health();
  const due = `A report has been due for ${counted(Math.floor(oldestDueSeconds), 'second')}.`;
  const waiting = `${counted(spooled, 'delivery waits', 'deliveries wait')} in the spool of this machine.`;
  const probably =
    'Probably no worker of this program runs. Nothing is lost, and nothing is credited until one does.';
  const stored = 'The database did not accept them. They are stored automatically once it does.';
  const notes = [
    problems.includes('oldest_due_too_old') && note('wait', due, probably),
    spooled > 0 && note('wait', waiting, stored),
  ];
  return notes.some(Boolean) ? html`<div class="stack" id="banners">${notes}</div>` : '';
}

/** What was credited on each day, exact. */
export async function moneyPage(view: View): Promise<Response> {
  const { settled } = await view.inbox.history({ days: 31 });
  const cells = ['Day', 'Type', ['Credited', 'number'], ['Payments', 'number']] as const;
  return consolePage(view, {
    title: 'Money',
    section: '/money',
    body: html`<p class="quiet">What was credited on each of the last 31 days, in UTC, by your own amounts.</p>
${
  settled.length === 0
    ? html`<p>Nothing was credited in these days: no payment that you expect was reported as paid.</p>`
    : tableOf('days', cells, settled.toReversed(), ({ day, transaction_type, count, ...money }) => [
        day.toISOString().slice(0, 10),
        transaction_type,
        moneyText(money),
        String(count),
      ])
}`,
  });
}
