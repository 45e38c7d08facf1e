import { badge, html, type Markup, note, story, type Tone, time } from '@payment-service/pages';
import type { Payment } from '../../operator/payment.ts';
import { type StoryStep, storyOf } from '../../operator/story.ts';
import type { TransitionDetails } from '../../operator/views.ts';
import { wordsOf } from '../../words.ts';
import { actForms } from './act-forms.ts';
import { bodyCards } from './bodies.ts';
import { consolePage, type Refused, type View } from './page.ts';
import { unknownPage } from './paid.ts';
import { facts, moneyText, stateBadge, toneOf } from './summary.ts';

const MAX_REPORTS = 10;

/** One payment: what it is, what happened, what can be done, and the evidence. */
export async function paymentPage(view: View, refused?: Refused): Promise<Response> {
  const payment = await paymentIn(view);
  if (payment === undefined) return unknownPage(view);
  const { advice, state, merchant_reference, transaction_type, reports } = payment;
  const details: TransitionDetails[] = [];
  // One after the other: receivers need the connections.
  for (const { transitionId } of reports.slice(0, MAX_REPORTS)) {
    const report = await view.inbox.report(transitionId);
    if (report !== undefined) details.push(report);
  }
  return consolePage(view, {
    title: merchant_reference || 'No reference',
    section: '/payments',
    crumbs: [['/payments', 'Payments']],
    beside: html`${stateBadge(payment)}<a class="button" href="#actions">What you can do</a>`,
    says: `${state}: ${advice.heading}`,
    refused,
    body: html`<div class="split"><div class="stack"><div id="answer">${note(advice.isNeeded ? 'bad' : toneOf(payment), advice.heading, advice.sentence)}</div>
<section class="card" id="facts">${facts({
      'What to do': advice.todo,
      'You may tell the customer': advice.say,
      Expected: payment.expected === undefined ? 'nothing' : moneyText(payment.expected),
      Until: payment.expected?.deadline && time(payment.expected.deadline.getTime()),
      Credited: payment.settled && moneyText(payment.settled),
      Type: transaction_type,
    })}</section>
<section class="card"><h2>The story</h2>${story(storyOf(payment).map(({ at, kind, text, detail }) => ({ at: at.getTime(), tone: KINDS[kind], title: text, detail })))}</section></div>
${actForms(view, payment, refused?.filled)}</div>
<section class="stack" id="evidence"><h2>Evidence</h2>
<p class="quiet">What the service reported. Amounts are not signed: only a body that equals what you expect is credited, and your own amount is what is credited.</p>
${reports.length > MAX_REPORTS && html`<p class="quiet">The newest ${MAX_REPORTS} of ${reports.length}.</p>`}
${details.map((report) => evidence(report, view.access.may.includes('bodies')))}</section>`,
  });
}

const KINDS: Readonly<Record<StoryStep['kind'], Tone>> = {
  ...{ reported: 'info', credited: 'good', held: 'bad', acted: 'neutral', waiting: 'wait' },
};

/** By the reference and the type, or by either reference alone; a pasted one may have spaces around it. */
async function paymentIn({ inbox, query }: View): Promise<Payment | undefined> {
  const [reference, type] = [query.get('reference'), query.get('type')];
  if (reference === null) return undefined;
  if (type !== null) return inbox.payment(reference, type);
  for (const text of new Set([reference, reference.trim()])) {
    const found = (await inbox.payment(text)) ?? (await inbox.payment({ internal_reference: text }));
    if (found !== undefined || text === '') return found;
    const { items } = await inbox.payments({ search: text });
    const other = items.find(({ merchant_reference }) => merchant_reference === text);
    if (other !== undefined) return inbox.payment(text, other.transaction_type);
  }
  return undefined;
}

function evidence(report: TransitionDetails, isOpen: boolean): Markup {
  const { signed, transitionId, state, reason, attempts, refusedBodies, failures } = report;
  const { heading, meaning } = wordsOf(report);
  return html`<section class="card stack" id="report-${transitionId}"><div class="head"><h3>${signed.transaction_status}</h3>${badge('neutral', heading)}</div>
<p>${meaning}</p>
${facts({
  Event: signed.event,
  'Service’s reference': html`<code>${signed.internal_reference || 'none'}</code>`,
  State: html`<code>${state}${reason === undefined ? '' : `, ${reason}`}</code>`,
  Id: html`<code>${transitionId}</code>`,
  Attempts: attempts === 0 ? undefined : String(attempts),
  'Refused deliveries': refusedBodies === 0 ? undefined : `${refusedBodies}: the limit of bodies was reached`,
})}
${failures.length > 0 && html`<ul class="stack">${failures.map(({ attempt, error, at }) => html`<li>Attempt ${attempt} failed: ${error} <span class="quiet small">${time(at.getTime())}</span></li>`)}</ul>`}
${bodyCards(report, isOpen)}</section>`;
}
