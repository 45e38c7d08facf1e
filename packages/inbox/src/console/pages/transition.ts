import { type Markup, note, shape, type Tone, time } from '@payment-service/pages';
import { html } from 'hono/html';
import type { TransitionDetails } from '../../operator/views.ts';
import { wordsOf } from '../../words.ts';
import { bodyCards } from './bodies.ts';
import { consolePage, missingPage, type Refused, type View } from './page.ts';
import { facts, inline, moneyText, stateBadge, toneOf, transitionList } from './summary.ts';
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
    refused: refused?.status,
    body: html`<div class="split aside"><div class="stack">
${note(toneOf(transition), heading, inline(meaning), inline(todo))}
<section class="card" id="facts"><h2>What was reported</h2>${reported(transition)}</section>
<section class="stack"><h2>Bodies</h2>
<p class="quiet">Amounts are not signed. Only a body that equals the expectation is applied, and the expected amount is what is credited.</p>
${bodyCards(transition, view.access.may.includes('bodies'))}</section>
${
  others.length === 0
    ? ''
    : html`<section class="stack"><h2>Other reports under this reference</h2>${transitionList(view, 'others', others)}</section>`
}</div>
<div class="stack"><section class="card"><h2>The story</h2><ol class="story stack" id="story">${story(transition)}</ol></section>
${actionForms(view, transition, refused?.filled)}</div></div>`,
  });
}

function reported({ signed, reason, attempts, expectation, refusedBodies }: TransitionDetails): Markup {
  const limit = `${refusedBodies}: the limit of bodies was reached`;
  return facts({
    Reason: reason && html`<code>${reason}</code>`,
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

type Step = readonly [at: Date, tone: Tone, title: Markup | string, detail?: Markup | string];

/** Everything that is kept of what happened, oldest first. */
function story(transition: TransitionDetails): Markup {
  const { firstAt, changedAt, nextAt, bodies, failures, actions, state, isArchived } = transition;
  const steps: Step[] = isArchived ? [] : [[firstAt, 'info', 'First delivery']];
  for (const [index, body] of bodies.slice(1).entries()) {
    const link = html`<a href="#body-${index + 2}">body ${index + 2}</a>`;
    steps.push([body.firstAt, 'wait', html`A different body arrived: ${link}`]);
  }
  for (const { attempt, error, at } of failures) steps.push([at, 'bad', `Attempt ${attempt} failed`, error]);
  for (const { action, by, note, at } of actions) steps.push([at, 'neutral', `${action} by ${by}`, note]);
  steps.sort(([one], [other]) => one.getTime() - other.getTime());
  steps.push([changedAt, toneOf(transition), wordsOf(transition).heading, html`Now <code>${state}</code>.`]);
  if (nextAt !== undefined) steps.push([nextAt, 'wait', 'A worker checks it again']);
  return html`${steps.map(
    ([at, tone, title, detail = ''], index) =>
      html`<li id="step-${index}"><span class="state ${tone}">${shape(tone)}</span><div><strong>${title}</strong>
${detail === '' ? '' : html`<div>${detail}</div>`}<div class="quiet small">${time(at.getTime())}</div></div></li>`,
  )}`;
}
