import type { KeptBody, OperatorAction, TransitionDetails } from '@payment-service/inbox';
import { html } from 'hono/html';
import { isClosed, wordsFor } from '../inbox-words.ts';
import { formatMoney } from '../money.ts';
import type { Order } from '../order.ts';
import { bodyCards, claimed } from './body-card.ts';
import { type Markup, type Page, page } from './page.ts';
import { orderBadge, stateBadge } from './state-badge.ts';
import { time, times } from './time.ts';

interface TransitionContent {
  readonly transition: TransitionDetails;
  /** The order that it is about, where the shop has one. */
  readonly order: Order | undefined;
  /** Why what the owner wanted was not done. */
  readonly trouble?: string | undefined;
}

/** One transition for the owner. Of its bodies it shows everything but the names and account numbers in them. */
export function ownerTransitionPage({ transition, order, trouble }: TransitionContent): Promise<Page> {
  const { signed, state, reason, attempts, deliveries, firstAt, changedAt, nextAt, lastError, expectation } =
    transition;
  const { heading, text } = wordsFor(transition);
  return page({
    title: 'Transition',
    section: '/owner/inbox',
    status: trouble === undefined ? 200 : 409,
    main: html`<h1>${signed.merchant_reference || 'No reference'}</h1>
${trouble === undefined ? '' : html`<div class="notice bad narrow" role="alert"><p>${trouble}</p></div>`}
<div class="card narrow" data-state="${state}">
<h2>${heading} ${stateBadge(transition)}</h2>
<p>${text}</p>
<dl class="facts">
${order === undefined ? '' : html`<dt>Order</dt><dd><a href="/owner/orders?reference=${order.reference}">${order.reference}</a> ${orderBadge(order)}</dd>`}
${row('Reason', reason)}
${row('Status', signed.transaction_status)}
${row('Type', signed.transaction_type)}
${row('Event', signed.event)}
${row('Service’s reference', signed.internal_reference)}
${row('Expected', expectation && formatMoney(expectation.currency, expectation.amount))}
${row('First received', time(firstAt))}
${row('Last change', time(changedAt))}
${row('Received', times(deliveries))}
${row('Attempts', attempts === 0 ? undefined : String(attempts))}
${row('Next attempt', nextAt && time(nextAt))}
${row('Last error', lastError)}
</dl>
</div>
<section><h2>What it claims</h2>
<p class="quiet">Amounts are not signed. Only a body that equals what the order expects is ever applied.</p>
<ul class="bodies">${bodyCards(transition)}</ul></section>
${transition.actions.length === 0 ? '' : html`<section><h2>What was done</h2><ul>${transition.actions.map(doneItem)}</ul></section>`}
${actionForm(transition, trouble !== undefined)}
<p><a href="/owner/inbox">Back to the inbox</a></p>`,
  });
}

function row(term: string, value: Markup | string | undefined): Markup | '' {
  return value === undefined ? '' : html`<dt>${term}</dt><dd>${value}</dd>`;
}

const REOPENED = new Set<string | undefined>([
  'transition_not_allowed',
  'contradicting_bodies',
  'timestamp_out_of_tolerance',
  'timestamp_unreadable',
]);

function doneItem({ action, by, note, at }: OperatorAction): Markup {
  return html`<li>${action} by ${by}, ${time(at)}: ${note}</li>`;
}

/** What a person may do now, and must say why. The inbox checks it again: the page may be an old one. */
function actionForm(transition: TransitionDetails, hasFocus: boolean): Markup {
  const { transitionId, state, reason } = transition;
  const choices = acceptableBodies(transition);
  const button = (name: string, hint: string): Markup =>
    html`<p>${hint}</p>
<button class="button" type="submit" formaction="/owner/inbox/${transitionId}/${name.toLowerCase()}">${name}</button>`;
  const isOpen = !isClosed(transition);
  return html`<section class="narrow"><h2>What you can do</h2>
<form method="post" class="card action">
${choices.length === 0 ? '' : bodyChoice(choices)}
<div class="field"><label for="note">Note</label>
<input id="note" name="note" type="text" maxlength="1000" required${hasFocus ? ' autofocus' : ''}></div>
${isOpen && state !== 'pending' ? button('Retry', 'Checks it again now, under the same rules.') : ''}
${isOpen ? button('Resolve', choices.length === 0 ? 'Closes it, and applies nothing.' : 'Closes it; or accepts the amount that you chose, and has it applied.') : ''}
${isOpen && !REOPENED.has(reason) ? '' : button('Reopen', reopening(transition))}
</form></section>`;
}

function reopening({ state }: TransitionDetails): string {
  if (state === 'settled')
    return 'Applies it once more. Do this only if the service confirms that it happened a second time.';
  return state === 'resolved'
    ? 'Checks it again.'
    : 'Lets it through in spite of this rule. Do this only if you know that it is right.';
}

function bodyChoice(bodies: readonly KeptBody[]): Markup {
  return html`<fieldset><legend>What is right</legend>
<label class="card choice"><input type="radio" name="body" value="" checked><span>None: close it</span></label>
${bodies.map(
  ({ digest, transaction }) =>
    html`<label class="card choice"><input type="radio" name="body" value="${digest}"><span>${claimed(transaction)}</span></label>`,
)}
</fieldset>`;
}

/** Where the shop expects nothing, a person may know what is right, if the body claims one amount. */
function acceptableBodies({ reason, bodies }: TransitionDetails): readonly KeptBody[] {
  if (reason !== 'different_bodies' && reason !== 'no_expectation') return [];
  return bodies.filter(
    ({ refusal, request, transaction }) =>
      refusal === undefined &&
      transaction.currency !== null &&
      transaction.amount !== null &&
      request.currency === transaction.currency &&
      request.amount === transaction.amount,
  );
}
