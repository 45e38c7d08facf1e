import { counted, html, type Markup, note, tableOf } from '@payment-service/pages';
import type { PaymentCounts } from '../../operator/payments.ts';
import { countText, EVIDENCE_WORDS } from '../../words.ts';
import { historyCharts } from './charts.ts';
import { at, consolePage, type View } from './page.ts';
import { paidForm } from './payment.ts';
import { moneyText, paymentList, paymentPath } from './summary.ts';

const SHOWN = 5;

/** What needs a person, the search of support, and what the last days brought. */
export async function overviewPage(view: View): Promise<Response> {
  const { inbox } = view;
  const counts = await inbox.counts();
  const needed = await inbox.payments({ needed: true, limit: SHOWN });
  const overdue = await inbox.payments({ state: 'overdue', limit: SHOWN });
  const section = (id: string, heading: string, path: string, text: string, rows: Markup): Markup =>
    html`<section class="stack" id="${id}"><div class="head"><h2>${heading}</h2><a href="${at(view, path)}">All<span class="hidden-text"> that are in this list</span></a></div>
<p class="quiet">${text}</p>
${rows}</section>`;
  return consolePage(view, {
    title: 'Overview',
    section: '/',
    says: `${countText(counts.needed)} need a person`,
    banners: await banners(view),
    body: html`${tiles(view, counts)}
${paidForm(view, '')}
${needed.items.length === 0 ? note('good', 'Nothing needs a person.') : section('needed', 'Need a person', '/payments?state=needed', 'Each page says what to find out, and what can be done.', paymentList(view, 'needed-payments', needed.items))}
${overdue.items.length > 0 && section('overdue', 'Overdue', '/payments?state=overdue', 'Not paid by the deadline. Ask the service about them, or cancel them.', paymentList(view, 'overdue-payments', overdue.items))}
${await unreadable(view)}
${historyCharts(await inbox.history())}`,
  });
}

function tiles(view: View, counts: PaymentCounts): Markup {
  const rows = [
    ['needed', counts.needed === 1 ? 'needs a person' : 'need a person', 'bad'],
    ['overdue', 'overdue', 'wait'],
    ['open', 'open', 'info'],
    ['paid', 'paid', 'good'],
  ] as const;
  return html`<div class="tiles" id="counts">${rows.map(
    ([state, label, tone]) =>
      html`<a class="tile ${counts[state] === 0 ? 'neutral' : tone}" href="${at(view, `/payments?state=${state}`)}"><strong>${countText(counts[state])}</strong><div class="quiet">${label}</div></a>`,
  )}</div>`;
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
    ? html`<p>Nothing was credited in these days.</p>`
    : tableOf('days', cells, settled.toReversed(), ({ day, transaction_type, count, ...money }) => [
        day.toISOString().slice(0, 10),
        transaction_type,
        moneyText(money),
        String(count),
      ])
}`,
  });
}
