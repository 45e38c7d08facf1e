import {
  html,
  type Markup,
  note,
  type Step,
  span,
  story,
  type Tone,
  timeline,
  utc,
} from '@payment-service/pages';
import type { TransitionDetails } from '../../operator/views.ts';
import { wordsOf } from '../../words.ts';
import { bodyCards } from './bodies.ts';
import { consolePage, missingPage, type Refused, type View } from './page.ts';
import { facts, moneyText, stateBadge, toneOf, transitionList } from './summary.ts';
import { actionForms } from './transition-actions.ts';

const OTHERS = 10;

/** The story of a transition, and the actions on it. */
export async function transitionPage(view: View, id: string, refused?: Refused): Promise<Response> {
  const transition = await view.inbox.show(id);
  if (transition === undefined) return missingPage(view);
  const { signed } = transition;
  const { heading, meaning, todo } = wordsOf(transition);
  const reference = signed.merchant_reference;
  const siblings = await view.inbox.list({ merchant_reference: reference, limit: OTHERS + 1 });
  const others = siblings.filter(({ transitionId }) => transitionId !== id).slice(0, OTHERS);
  return consolePage(view, {
    title: reference || 'No reference',
    section: '/transitions',
    crumbs: [['/transitions', 'Transitions']],
    beside: html`${stateBadge(transition)}<a class="button" href="#actions">What you can do</a>`,
    says: `${transition.state}: ${heading}`,
    refused,
    body: html`<div class="split"><div class="stack">
${note(toneOf(transition), heading, meaning, todo)}
<section class="card" id="facts"><h2>What was reported</h2>${reported(transition)}</section>
<section class="stack"><h2>Bodies</h2>
<p class="quiet">Amounts are not signed. Only a body that equals the expectation is applied, and the expected amount is what is credited.</p>
${bodyCards(transition, view.access.may.includes('bodies'))}</section>
${others.length > 0 && html`<section class="stack"><h2>Other reports under this reference</h2>${transitionList(view, 'others', others)}</section>`}</div>
<div class="stack"><section class="card"><h2>The story</h2>${story(stepsOf(transition))}</section>
${actionForms(view, transition, refused?.filled)}</div></div>`,
  });
}

function reported({ signed, attempts, expectation, refusedBodies }: TransitionDetails): Markup {
  const limit = `${refusedBodies}: the limit of bodies was reached`;
  return facts({
    Status: signed.transaction_status,
    Type: signed.transaction_type,
    Event: signed.event,
    'Service’s reference': html`<code>${signed.internal_reference || 'none'}</code>`,
    Attempts: attempts === 0 ? undefined : String(attempts),
    Expected: expectation === undefined ? 'nothing' : moneyText(expectation),
    'Expected before': expectation?.replaced.map(moneyText).join(', ') || undefined,
    'Refused deliveries': refusedBodies === 0 ? undefined : limit,
  });
}

const DONE = {
  retry: 'Retried',
  resolve: 'Closed',
  accept: 'Amount accepted',
  acceptText: 'Text accepted',
  reopen: 'Reopened',
  applyAgain: 'Applied again',
  cancel: 'Canceled',
  expect: 'Another amount stated',
  statement: 'Kept from a statement',
  forget: 'Personal data removed',
} as const;

/** Everything that is kept of what happened, oldest first. */
function stepsOf(transition: TransitionDetails): (Step & { readonly title: string })[] {
  const { firstAt, changedAt, nextAt, bodies, failures, actions, state, reason, isArchived } = transition;
  const steps: ReturnType<typeof stepsOf> = [];
  const happened = (at: Date, tone: Tone, title: string, detail?: Markup | string): void => {
    steps.push({ at: at.getTime(), tone, title, detail });
  };
  if (!isArchived) happened(firstAt, 'info', 'First delivery');
  for (const [index, { firstAt: at }] of bodies.slice(1).entries())
    happened(
      at,
      'wait',
      'A different body arrived',
      html`<a href="#body-${index + 2}">Body ${index + 2}</a>`,
    );
  for (const { attempt, error, at } of failures) happened(at, 'bad', `Attempt ${attempt} failed`, error);
  for (const { action, by, note, at } of actions) happened(at, 'neutral', `${DONE[action]} by ${by}`, note);
  steps.sort((one, other) => one.at - other.at);
  const code = html`<code class="quiet">${state}${reason === undefined ? '' : `, ${reason}`}</code>`;
  happened(changedAt, toneOf(transition), wordsOf(transition).heading, code);
  if (nextAt !== undefined) happened(nextAt, 'wait', 'A worker checks it again');
  return steps;
}

/** The same to scale, so that a long wait is seen. */
export function paymentTimeline(transition: TransitionDetails): Markup {
  const events = stepsOf(transition).map(({ at, tone, title }) => ({ at, look: tone, text: title }));
  const [first, last] = [events[0]?.at ?? 0, transition.changedAt.getTime()];
  return timeline({
    id: 'timeline',
    title: `${wordsOf(transition).heading}, ${last - first < 1000 ? 'immediately' : `${span(last - first)} after the first delivery`}`,
    note: 'What happened, to scale, in UTC.',
    events,
    figures: [['When', 'What'], ...events.map(({ at, text }) => [utc(at), text])],
  });
}
