import { badge, bodyText, counted, difference, type Markup, masked, time } from '@payment-service/pages';
import { html } from 'hono/html';
import type { KeptBody } from '../../operator/kept-body.ts';
import type { TransitionDetails } from '../../operator/views.ts';
import { BODY_WORDS } from '../../words.ts';
import type { StoredClaim } from '../../work/verdict/evaluate.ts';
import { money } from './money.ts';

/**
 * The members of a body that are not names, account numbers or free text; all other values are hidden without the right
 * `bodies`.
 */
const OPEN = new Set([
  'event',
  ...[
    'id',
    'merchant_reference',
    'internal_reference',
    'transaction_type',
    'transaction_status',
    'request_currency',
    'request_amount',
    'transaction_currency',
    'transaction_amount',
    'transaction_charge',
    'charge_customer',
    'total_credit',
    'provider_code',
  ].map((name) => `payload.${name}`),
]);

/** Hides values. Equal ones get the same number, so that a difference is visible without the values. */
function newMask(): (text: string) => string {
  const numbers = new Map<string, number>();
  const hidden = (piece: string): string => {
    const number = numbers.get(piece) ?? numbers.size + 1;
    numbers.set(piece, number);
    return `"hidden ${number}"`;
  };
  return (text) =>
    masked(text, (path, piece) => (OPEN.has(path) ? piece : hidden(piece))) ??
    'Hidden, since it is not JSON.';
}

/**
 * Every body compared with the expectation, with the difference marked, and with the body that was applied or arrived first.
 */
export function bodyCards({ bodies, expectation }: TransitionDetails, isOpen: boolean): Markup {
  const mask = isOpen ? (text: string) => text : newMask();
  const shown = bodies.map(({ text }) => (text === undefined ? undefined : mask(text)));
  const base = Math.max(
    0,
    bodies.findIndex(({ isSettled }) => isSettled),
  );
  return html`<ul class="stack">${bodies.map((body, index) => {
    const text = shown[index];
    const baseText = shown[base];
    return html`<li class="card" id="body-${index + 1}"><div class="head"><h3>Body ${index + 1}</h3>${
      body.isSettled ? badge('good', 'equalled the expectation') : ''
    }${body.refusal === undefined ? '' : badge('bad', body.refusal)}</div>
${claims(body, expectation)}
${
  index === base || text === undefined || baseText === undefined
    ? ''
    : html`<h4>Differences from body ${base + 1}</h4>${difference(baseText, text)}`
}
${text === undefined ? html`<p class="quiet">${BODY_WORDS[body.isSealed ? 'sealed' : 'removed']}</p>` : whole(text, index + 1, isOpen)}</li>`;
  })}</ul>`;
}

function claims(body: KeptBody, expectation: TransitionDetails['expectation']): Markup {
  const { request, transaction, deliveries, lastAt, keyId } = body;
  const compare = expectation?.compare ?? 'both';
  const beside = (claim: StoredClaim, name: 'request' | 'transaction'): Markup => {
    if (expectation === undefined) return money(claim);
    const isSame = claim.currency === expectation.currency && claim.amount === expectation.amount;
    if (isSame) return html`${money(claim)} ${badge('good', 'as expected')}`;
    const isIgnored = compare !== 'both' && compare !== name;
    return html`<mark>${money(claim)}</mark> ${badge(isIgnored ? 'neutral' : 'bad', isIgnored ? 'not compared' : 'differs')}`;
  };
  return html`<dl class="facts">
<dt>Expected</dt><dd>${expectation === undefined ? 'nothing' : money(expectation)}</dd>
<dt>Requested</dt><dd>${beside(request, 'request')}</dd>
<dt>Transacted</dt><dd>${beside(transaction, 'transaction')}</dd>
<dt>Received</dt><dd>${counted(deliveries, 'delivery', 'deliveries')}, last ${time(lastAt.getTime())}</dd>
<dt>Signing key</dt><dd><code>${keyId}</code></dd></dl>`;
}

const whole = (text: string, number: number, isOpen: boolean): Markup =>
  html`<details id="body-${number}-text"><summary>${isOpen ? 'The whole body' : 'The body without names and account numbers'}<span class="hidden-text">, body ${number}</span></summary>
${bodyText(text, { signed: true })}</details>`;
