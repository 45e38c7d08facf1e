import {
  type Filled,
  fieldsOf,
  form,
  type Markup,
  note,
  shape,
  type Tone,
  time,
} from '@payment-service/pages';
import { html } from 'hono/html';
import type { KeptBody } from '../../operator/kept-body.ts';
import type { TransitionDetails } from '../../operator/views.ts';
import { wordsOf } from '../../words.ts';
import type { Comparison, StoredClaim } from '../../work/verdict/evaluate.ts';
import { bodyCards } from './bodies.ts';
import { moneyText } from './money.ts';
import { at, consolePage, missingPage, type View } from './page.ts';
import { inline, stateBadge, toneOf, transitionList, transitionPath } from './summary.ts';

const CLOSED: readonly string[] = ['settled', 'superseded', 'resolved'];
/** Open transitions that a person may admit. */
const REOPENED: ReadonlySet<string | undefined> = new Set([
  'transition_not_allowed',
  'contradicting_bodies',
  'paid_by_another',
  'timestamp_out_of_tolerance',
  'timestamp_unreadable',
]);
const OTHERS = 10;
const FORGETTING =
  'For a request for erasure: removes the content of bodies, the errors and the notes of everything under this reference. What prevents a second payment stays. It cannot be undone, so do not write a name into the note.';

/** The story of a transition, and the actions on it. */
export async function transitionPage(
  view: View,
  id: string,
  refused?: { readonly filled: Filled; readonly text: string; readonly status: 409 | 422 },
): Promise<Response> {
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
    status: refused?.status ?? 200,
    refused: refused?.text,
    body: html`<div class="split aside"><div class="stack">
${note(toneOf(transition), heading, inline(meaning), inline(todo))}
<section class="card" id="facts"><h2>What was reported</h2>${facts(transition)}</section>
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

function facts({ signed, reason, attempts, expectation, refusedBodies }: TransitionDetails): Markup {
  const rows: readonly (readonly [string, Markup | string | undefined])[] = [
    ['Reason', reason === undefined ? undefined : html`<code>${reason}</code>`],
    ['Status', signed.transaction_status],
    ['Type', signed.transaction_type],
    ['Event', signed.event],
    ['Service’s reference', html`<code>${signed.internal_reference || 'none'}</code>`],
    ['Attempts', attempts === 0 ? undefined : String(attempts)],
    ['Expected', expectation === undefined ? 'nothing' : moneyText(expectation)],
    ['Expected before', expectation?.replaced.map(moneyText).join(', ') || undefined],
    [
      'Refused deliveries',
      refusedBodies === 0 ? undefined : `${refusedBodies}: the limit of bodies was reached`,
    ],
  ];
  return html`<dl class="facts">${rows.map(([term, value]) =>
    value === undefined ? '' : html`<dt>${term}</dt><dd>${value}</dd>`,
  )}</dl>`;
}

type Step = readonly [at: Date, tone: Tone, title: Markup | string, detail?: Markup | string | undefined];

/** Everything that is kept of what happened, oldest first. */
function story(transition: TransitionDetails): Markup {
  const { firstAt, changedAt, nextAt, bodies, failures, actions, state } = transition;
  const steps: Step[] = [
    ...(transition.isArchived ? [] : [[firstAt, 'info', 'First delivery'] as const]),
    ...bodies
      .slice(1)
      .map(
        (body, index): Step => [
          body.firstAt,
          'wait',
          html`A different body arrived: <a href="#body-${index + 2}">body ${index + 2}</a>`,
        ],
      ),
    ...failures.map(
      ({ attempt, error, at: when }): Step => [when, 'bad', `Attempt ${attempt} failed`, error],
    ),
    ...actions.map(
      ({ action, by, note: why, at: when }): Step => [when, 'neutral', `${action} by ${by}`, why],
    ),
  ];
  steps.sort(([one], [other]) => one.getTime() - other.getTime());
  steps.push([changedAt, toneOf(transition), wordsOf(transition).heading, html`Now <code>${state}</code>.`]);
  if (nextAt !== undefined) steps.push([nextAt, 'wait', 'A worker checks it again']);
  return html`${steps.map(
    ([when, tone, title, detail = ''], index) =>
      html`<li id="step-${index}"><span class="state ${tone}">${shape(tone)}</span><div><strong>${title}</strong>
${detail === '' ? '' : html`<div>${detail}</div>`}<div class="quiet small">${time(when.getTime())}</div></div></li>`,
  )}`;
}

/**
 * The actions that this visitor may do now, each with a reason. The inbox checks them again, since the page may be out of date.
 */
function actionForms(view: View, transition: TransitionDetails, filled: Filled | undefined): Markup {
  const { state, isArchived } = transition;
  const isOpen = !CLOSED.includes(state);
  const choices = isOpen ? acceptable(transition) : [];
  const one = (
    name: string,
    title: string,
    text: string,
    button: string,
    extra: Markup | string = '',
  ): Markup => {
    const fields = fieldsOf(name, filled);
    return html`<section class="card single"><h3>${title}</h3><p class="quiet small">${text}</p>
${form(name, at(view, `${transitionPath(transition)}/${name}`), {
  hidden: { proof: view.proof.value },
  fields: html`${extra}${fields.field({ name: 'note', label: 'Why', hint: 'Kept with your name.' })}${fields.problem()}`,
  button,
})}</section>`;
  };
  const { may } = view.access;
  const forms = [
    ...(may.includes('expect') && choices.length > 0
      ? [
          one(
            'accept',
            'Accept an amount',
            transition.expectation === undefined
              ? 'The amount of the body becomes the expectation and is applied.'
              : `The amount of the body replaces the expected ${moneyText(transition.expectation)}, and is applied. Do this only if you know what was paid, such as from the service.`,
            'Accept',
            fieldsOf('accept', filled).choice({ name: 'body', label: 'What was paid' }, choices),
          ),
        ]
      : []),
    ...(may.includes('retry') && isOpen && state !== 'pending'
      ? [one('retry', 'Retry', 'Checks it again now, under the same rules and with all attempts.', 'Retry')]
      : []),
    ...(may.includes('resolve') && isOpen
      ? [one('resolve', 'Resolve', 'Closes it, and applies nothing.', 'Resolve')]
      : []),
    ...(may.includes('reopen') && !isArchived && (!isOpen || REOPENED.has(transition.reason))
      ? [one('reopen', 'Reopen', reopening(state), 'Reopen')]
      : []),
    ...(may.includes('forget') && transition.signed.merchant_reference !== ''
      ? [one('forget', 'Forget', FORGETTING, 'Remove personal data')]
      : []),
  ];
  const none = html`<p class="quiet">${isArchived ? 'It is archived: prune() has removed its bodies and what was done, and it is final.' : 'Nothing now.'}</p>`;
  return html`<section class="stack" id="actions"><h2>What you can do</h2>${forms.length === 0 ? none : forms}</section>`;
}

function reopening(state: string): string {
  if (state === 'settled')
    return 'Applies it once more. Do this only if the service confirms that it happened a second time.';
  return state === 'resolved'
    ? 'Checks it again.'
    : 'Admits it despite the rule. Do this only if you know that it is right.';
}

/** The bodies whose amount a person may accept, with the resulting expectation. */
export function acceptable({
  bodies,
  expectation,
  signed,
}: TransitionDetails): [value: string, text: string][] {
  if (signed.transaction_status !== 'COMPLETED' || expectation?.settledBy !== undefined) return [];
  return bodies.flatMap((body, index) =>
    body.refusal === undefined
      ? ways(body)
          .filter(
            ([, claim]) => claim.currency !== expectation?.currency || claim.amount !== expectation?.amount,
          )
          .map(([compare, claim, which]): [string, string] => [
            `${body.digest}:${compare}`,
            `${moneyText(claim)}, ${which} body ${index + 1}`,
          ])
      : [],
  );
}

function ways({ request, transaction }: KeptBody): (readonly [Comparison, StoredClaim, string])[] {
  const isWhole = ({ currency, amount }: StoredClaim): boolean => currency !== null && amount !== null;
  const isOne = request.currency === transaction.currency && request.amount === transaction.amount;
  if (isOne) return isWhole(request) ? [['both', transaction, 'both amounts of']] : [];
  const both = [
    ['transaction', transaction, 'transacted by'],
    ['request', request, 'requested by'],
  ] as const;
  return both.filter(([, claim]) => isWhole(claim));
}
