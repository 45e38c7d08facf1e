import { html, type Markup, note, type Tone, time } from '@payment-service/pages';
import type { KnownPayment } from '../../operator/expectations.ts';
import type { TransitionSummary } from '../../operator/views.ts';
import { WAITS_FOR_PERSON, wordsOf } from '../../words.ts';
import { at, consolePage, type View } from './page.ts';
import { moneyText, transitionList, transitionPath } from './summary.ts';
import { paymentTimeline } from './transition.ts';
import { findEither } from './transitions.ts';

const MAX_FOUND = 50;

/** What support can read out. */
const ANSWERS = {
  held: 'A report of this payment has arrived, and a colleague must check it before it counts. Please do not pay again.',
  underWay: 'A report of this payment has arrived and is being entered. Please do not pay again.',
  failed: 'No. The payment service reported that this payment failed.',
  notApplied: 'A report has this reference, but it was not applied to any order. A colleague must check it.',
  expected: 'Not yet. The payment is expected, but no report of it has arrived.',
  unknown: 'Nothing is known under this reference.',
} as const;
/** What to do next. */
const NEXT = {
  paid: 'Nothing more is needed.',
  underWay: 'It is retried automatically. If it stays like this, check its last error.',
  notPaid: 'If the customer was charged, ask the payment service with its reference below.',
  expected: 'Ask the payment service for the transaction with this reference: a report can be late, or lost.',
  unknown:
    'Check it letter by letter, or ask for the reference that the payment service gave. If it is right, ask the payment service.',
} as const;

interface Answer {
  readonly tone: Tone;
  readonly text: Markup | string;
  readonly next: Markup | string;
  /** The transition that it is based on. */
  readonly about?: TransitionSummary;
}

/** Asks for a reference. */
export const paidForm = (view: View, reference: string): Markup =>
  html`<section class="card" id="paid"><h2>“I have paid”</h2>
<form class="search" action="${at(view, '/paid')}"><label class="hidden-text" for="paid-reference">The reference of the payment</label>
<input id="paid-reference" name="reference" type="search" required value="${reference}" placeholder="Reference of the order or of the service">
<button class="main">Answer</button></form></section>`;

/** From a reference to one answer. */
export async function paidPage(view: View): Promise<Response> {
  const asked = (view.query.get('reference') ?? '').trim();
  const found = asked === '' ? [] : await findEither(view, { reference: asked, limit: MAX_FOUND });
  const reference = found[0]?.signed.merchant_reference ?? asked;
  const expected = asked === '' ? [] : await view.inbox.expectations(reference);
  const { tone, text, next, about } = answerOf(found, expected);
  const details = about && (await view.inbox.show(about.transitionId));
  return consolePage(view, {
    title: asked === '' ? '“I have paid”' : `Has ${asked} been paid?`,
    section: '/',
    crumbs: [['/', 'Overview']],
    body: html`${paidForm(view, asked)}
${
  asked !== '' &&
  html`<div id="answer">${note(tone, text, next)}</div>
${details === undefined ? '' : paymentTimeline(details)}
${about === undefined ? '' : html`<p><a class="button" href="${at(view, transitionPath(about))}">The whole story</a></p>`}
${expected.map(
  (one) =>
    html`<p id="expected-${one.transaction_type}">Expected: ${moneyText(one)} <span class="quiet">as ${one.transaction_type}</span>${one.deadline === undefined ? '' : html`, due ${time(one.deadline.getTime())}`}${one.settledBy === undefined ? '' : ', settled'}.</p>`,
)}
${found.length === 0 ? '' : html`<section class="stack"><h2>What was reported</h2>${transitionList(view, 'reports', found)}</section>`}`
}`,
  });
}

/** The strongest report decides: applied ones first, then those that wait for an operator, then those under way. */
function answerOf(found: readonly TransitionSummary[], expected: readonly KnownPayment[]): Answer {
  const settled = found.filter(({ state }) => state === 'settled');
  const paid = settled.find(({ signed }) => signed.transaction_status === 'COMPLETED');
  const held = found.find(({ state }) => WAITS_FOR_PERSON.includes(state));
  if (paid !== undefined) {
    const amount = paid.settled === undefined ? '' : ` of ${moneyText(paid.settled)}`;
    const { transaction_type: type } = paid.signed;
    const what =
      type === 'COLLECTION' ? `The payment${amount} has arrived` : `The ${type}${amount} is complete`;
    const text = html`Yes. ${what}, and was applied: ${time(paid.changedAt.getTime())}.`;
    const other = html`Another report under this reference needs an operator: <a href="#reports">see below</a>.`;
    return { tone: 'good', about: paid, text, next: held === undefined ? NEXT.paid : other };
  }
  if (held !== undefined) {
    const { heading, todo } = wordsOf(held);
    return { tone: 'bad', about: held, text: ANSWERS.held, next: html`${heading}. ${todo}` };
  }
  const underWay = found.find(({ state }) => state === 'retrying' || state === 'pending');
  if (underWay !== undefined)
    return { tone: 'wait', about: underWay, text: ANSWERS.underWay, next: NEXT.underWay };
  const [last] = settled;
  if (last !== undefined) {
    const { transaction_status: status } = last.signed;
    const latest = `Not yet. The last report of the payment service says ${status}.`;
    const text = status === 'FAILED' ? ANSWERS.failed : latest;
    return { tone: 'neutral', about: last, text, next: NEXT.notPaid };
  }
  const [other] = found;
  if (other !== undefined) {
    const { heading, meaning, todo } = wordsOf(other);
    const next = html`${heading}. ${`${meaning} ${todo}`}`;
    return { tone: 'wait', about: other, text: ANSWERS.notApplied, next };
  }
  if (expected.length > 0) return { tone: 'wait', text: ANSWERS.expected, next: NEXT.expected };
  return { tone: 'neutral', text: ANSWERS.unknown, next: NEXT.unknown };
}
