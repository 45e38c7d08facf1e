import { unsignedFields } from '@payment-service/core/internal';
import {
  badge,
  bodyText,
  counted,
  difference,
  html,
  type Markup,
  masked,
  time,
} from '@payment-service/pages';
import { NO_PERSON } from '../../delivery/stored-delivery.ts';
import type { KeptBody, TransitionDetails } from '../../operator/reports.ts';
import { mismatchesOf, type StoredClaim } from '../../verdict/evaluate.ts';
import { BODY_WORDS } from '../../words.ts';
import { facts, money } from './summary.ts';

/** The members of a body that everyone sees; all other values are hidden without the right `bodies`. */
const OPEN = new Set([
  'event',
  ...['id', 'merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status']
    .concat(NO_PERSON)
    .map((name) => `payload.${name}`),
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
 * Every body of a report compared with the expectation, with the difference marked, and with the body that was applied or arrived
 * first.
 */
export function bodyCards(report: TransitionDetails, isOpen: boolean): Markup {
  const { bodies, expectation, transitionId } = report;
  const mask = isOpen ? (text: string) => text : newMask();
  const shown = bodies.map(({ text }) => text && mask(text));
  const applied = bodies.findIndex(({ isSettled }) => isSettled);
  const base = Math.max(0, applied);
  const title = isOpen ? 'The whole body' : 'The body without names and account numbers';
  return html`<ul class="stack">${bodies.map((body, index) => {
    const [number, text, baseText] = [index + 1, shown[index], shown[base]];
    const id = `body-${number}-${transitionId.slice(0, 8)}`;
    const isCompared = index !== base && text !== undefined && baseText !== undefined;
    return html`<li class="card" id="${id}"><div class="head"><h4>Body ${number}</h4>${
      body.isSettled ? appliedBadge(report) : ''
    }${body.refusal === undefined ? '' : badge('bad', body.refusal)}</div>
${claims(body, expectation)}${body.isUnsealed ? html`<p class="quiet">${BODY_WORDS.unsealed}</p>` : ''}
${isCompared ? html`<h5>Differences from body ${base + 1}</h5>${difference(baseText, text)}` : ''}
${
  text === undefined
    ? html`<p class="quiet">${BODY_WORDS[body.isSealed ? 'sealed' : 'removed']}</p>`
    : html`<details id="${id}-text"><summary>${title}<span class="hidden-text">, body ${number}</span></summary>
${bodyText(text, { signed: true })}</details>`
}</li>`;
  })}</ul>`;
}

/** Of the body that was applied: a failure equals no expectation, and an accepted amount is what an operator chose. */
function appliedBadge({ settled, actions }: TransitionDetails): Markup {
  if (settled === undefined) return badge('neutral', 'was applied');
  const accepted = actions.findLast(({ action }) => action === 'accept');
  return badge('good', accepted ? `Accepted by ${accepted.by}` : 'equalled the expectation');
}

const DIFFERENCE = {
  different: 'differs',
  missing: 'missing',
  inexact: 'not exact',
  text: 'sent as text',
  case: 'differs in upper and lower case',
} as const;

/** What a body claims in a field, if its content is there and has it. A charge is in the currency of its transaction. */
export function claimOf(
  { text = '' }: KeptBody,
  name: 'transaction_charge' | 'provider_code',
): string | undefined {
  const claim: unknown = unsignedFields(text)[name];
  return typeof claim === 'string' || typeof claim === 'number' ? String(claim) : undefined;
}

function claims(body: KeptBody, expectation: TransitionDetails['expectation']): Markup {
  const { request, transaction, deliveries, lastAt, keyId } = body;
  const compare = expectation?.compare ?? 'both';
  const beside = (claim: StoredClaim, name: 'request' | 'transaction'): Markup => {
    if (expectation === undefined) return money(claim);
    const [wrong] = mismatchesOf(body, { ...expectation, compare: name });
    if (wrong === undefined) return html`${money(claim)} ${badge('good', 'as expected')}`;
    const isCompared = compare === 'both' || compare === name;
    return html`<mark>${money(claim)}</mark> ${isCompared ? badge('bad', DIFFERENCE[wrong.reason]) : badge('neutral', 'not compared')}`;
  };
  const [charge, provider] = [claimOf(body, 'transaction_charge'), claimOf(body, 'provider_code')];
  return facts({
    Expected: expectation === undefined ? 'nothing' : money(expectation),
    Requested: beside(request, 'request'),
    Transacted: beside(transaction, 'transaction'),
    Received: html`${counted(deliveries, 'delivery', 'deliveries')}, last ${time(lastAt.getTime())}`,
    'Charge, as claimed': charge && money({ currency: transaction.currency, amount: charge }),
    'Provider, as claimed': provider,
    'Signing key': html`<code>${keyId}</code>`,
  });
}
