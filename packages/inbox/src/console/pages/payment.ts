import {
  badge,
  type Filled,
  fieldsOf,
  form,
  html,
  type Markup,
  note,
  story,
  type Tone,
  time,
  withQuery,
} from '@payment-service/pages';
import type { ActName } from '../../operator/acts/action-log.ts';
import type { Act } from '../../operator/acts/offers.ts';
import { isFar, moneyFact, OPERATIONS, textOf, usualAct } from '../../operator/acts/operations.ts';
import { SAY_UNKNOWN } from '../../operator/payments/advice.ts';
import type { Payment } from '../../operator/payments/read-payment.ts';
import { type StoryStep, storyOf } from '../../operator/payments/story.ts';
import type { TransitionDetails } from '../../operator/reports.ts';
import { COMPARISONS } from '../../verdict/stored-values.ts';
import { wordsOf } from '../../words.ts';
import { bodyCards } from './bodies.ts';
import { at, consolePage, type Refused, type View } from './page.ts';
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
  // After an act, with what has happened to the money by now.
  const said = view.said === '' ? '' : `${view.said} ${moneyFact(payment)}`;
  return consolePage(
    { ...view, said },
    {
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
        'Accepted by': acceptedBy(payment.actions),
        Order:
          payment.order &&
          html`<a href="${withQuery(at(view, '/payments'), { order: payment.order.id })}">${payment.order.id}</a>`,
        Type: transaction_type,
      })}</section>
<section class="card"><h2>The story</h2>${story(storyOf(payment).map(({ at, kind, text, detail }) => ({ at: at.getTime(), tone: KINDS[kind], title: text, detail })))}</section></div>
${actForms(view, payment, refused?.filled)}
<section class="stack" id="evidence"><h2>Evidence</h2>
<p class="quiet">What the service reported. Amounts are not signed: only a body that equals what you expect is credited, and your own amount is what is credited.</p>
${reports.length > MAX_REPORTS && html`<p class="quiet">The newest ${MAX_REPORTS} of ${reports.length}.</p>`}
${details.map((report) => evidence(report, view.access.may.includes('bodies')))}</section></div>`,
    },
  );
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

export const NOTE = { name: 'note', label: 'Why', hint: 'Kept with your name.' };

/** Who has accepted the amount. */
const acceptedBy = (actions: Payment['actions']): string | undefined => {
  const last = actions.findLast(({ action }) => action === 'accept');
  return last && `${last.by}: ${last.note}`;
};

/** What this visitor may do now, one form for each name. The inbox checks it again, since the page may be out of date. */
function actForms(view: View, payment: Payment, filled: Filled | undefined): Markup {
  const mine = Map.groupBy(
    payment.acts.filter(({ name }) => view.access.may.includes(name)),
    ({ name }) => name,
  );
  const mayNot =
    payment.acts.length > 0
      ? 'Nothing with your permissions: a person with more permissions can act on this payment.'
      : 'Nothing now: no report of this payment waits for a person.';
  const none = payment.isArchived ? 'It is archived and final: its reports no longer have bodies.' : mayNot;
  const usual = usualAct(payment);
  // To credit once more is last: it is almost never what should be done.
  const order = (name: ActName): number => (name === usual ? -1 : Number(name === LAST));
  const names = [...mine.keys()].toSorted((one, other) => order(one) - order(other));
  const forms = names.map((name) => {
    const isUsual = name === usual;
    const own = actForm(view, payment, mine.get(name) ?? [], fieldsOf(name, filled), isUsual);
    // The others take their place when they are asked for.
    const isOpen = isUsual || filled?.form === name;
    return html`<details class="card single" id="act-${name}"${isOpen ? html` open` : ''}><summary><h3>${OPERATIONS[name].label}</h3></summary>${own}</details>`;
  });
  const needless =
    usual === undefined && html`<p class="quiet">Nothing has to be done. You can still do this:</p>`;
  return html`<section class="stack" id="actions"><h2>What you can do</h2>${mine.size === 0 ? html`<p class="quiet">${none}</p>` : html`${needless}${forms}`}</section>`;
}

const LAST: ActName = 'applyAgain';

function actForm(
  view: View,
  payment: Payment,
  acts: readonly Act[],
  fields: ReturnType<typeof fieldsOf>,
  isMain: boolean,
): Markup {
  const [first, ...others] = acts;
  if (first === undefined) return html``;
  const { name, money } = first;
  const { label, effect } = OPERATIONS[name];
  const isAnyFar = acts.some(({ money: one }) => one !== undefined && isFar(one, payment.expected));
  const mustConfirm = name === 'accept' && isAnyFar;
  // An amount is only chosen for the reader if it is the only one, and close to what is expected.
  const isOne = others.length === 0 && !mustConfirm;
  const effects = new Set(acts.map((act) => effect(act, payment)));
  // The revision is a field of its own: what the reader has chosen stays chosen when the payment has changed, and an open page
  // keeps the revision that they saw.
  const choices = acts.map(
    ({ revision: _, ...act }) => [JSON.stringify(act), choiceText(act, payment)] as const,
  );
  const [[only] = ['']] = choices;
  return html`${[...effects].map((text) => html`<p>${text}</p>`)}
${form(name, at(view, `/act/${name}`), {
  hidden: { proof: view.proof.value, revision: payment.revision, ...(isOne && { act: only }) },
  fields: html`${isOne ? '' : fields.choice({ name: 'act', label: 'Which', isRequired: true }, [['', 'Choose one'], ...choices])}${name === 'expect' ? moneyFields(payment, fields) : ''}${name === 'expect' || mustConfirm ? fields.field(AGAIN) : ''}${fields.field(NOTE)}${fields.problem()}`,
  kind: isMain ? 'main' : '',
  button: isOne && money !== undefined ? `${label}: ${textOf(money)}` : label,
})}`;
}

const AGAIN = {
  name: 'again',
  label: 'Type the amount again',
  hint: 'If it is ten times what is expected or more, a tenth of it or less, or in another currency.',
};

const COMPARED = { both: '', request: ', as requested', transaction: ', as transacted' } as const;

/** An act by its money and its report. */
function choiceText(
  { money, report, compare = 'both', isText }: Omit<Act, 'revision'>,
  { reports }: Payment,
): string {
  const signed = reports.find(({ transitionId }) => transitionId === report)?.signed;
  const amount = money && `${textOf(money)}${COMPARED[compare]}${isText ? ', sent as text' : ''}`;
  const which = signed && `${signed.transaction_status} of ${signed.internal_reference || 'no transaction'}`;
  return [amount, which].filter(Boolean).join(': ');
}

const moneyFields = ({ expected }: Payment, fields: ReturnType<typeof fieldsOf>): Markup =>
  html`${fields.field({ name: 'currency', label: 'Currency', value: expected?.currency ?? '' })}${fields.field({ name: 'amount', label: 'Amount' })}${fields.choice(
    { name: 'compare', label: 'Compare with', value: expected?.compare ?? 'both' },
    COMPARISONS.map((each) => [each, each === 'both' ? 'both amounts of a report' : `its ${each} amount`]),
  )}`;

/** “I have paid”: asks for a reference. The payment's page has the answer. */
export const paidForm = (view: View, reference: string): Markup =>
  html`<section class="card" id="paid"><h2>“I have paid”</h2>
<form class="search" action="${at(view, '/payment')}"><label class="hidden-text" for="paid-reference">The reference of the payment</label>
<input id="paid-reference" name="reference" type="search" required autofocus value="${reference}" placeholder="Reference of the order or of the service">
<button class="main">Answer</button></form></section>`;

const UNKNOWN =
  'Check it letter by letter, or ask for the reference that the payment service gave. If it is right, ask the payment service.';

/** For a reference under which there is nothing. */
export function unknownPage(view: View): Promise<Response> {
  const reference = (view.query.get('reference') ?? '').trim();
  const isAsked = view.query.has('reference');
  return consolePage(view, {
    title: isAsked ? reference || 'No reference' : '“I have paid”',
    section: '/payments',
    status: isAsked ? 404 : 200,
    crumbs: [['/payments', 'Payments']],
    body: html`${paidForm(view, reference)}
${isAsked && html`<div id="answer">${note('neutral', 'Nothing is known under this reference.', `${UNKNOWN} You may tell the customer: ${SAY_UNKNOWN}`)}</div>`}`,
  });
}
