import type { KeptBody, StoredClaim, TransitionDetails } from '@payment-service/inbox';
import { html } from 'hono/html';
import { type BodyField, bodyFields, type Difference, differences, MAX_FIELDS } from '../body-fields.ts';
import { isFailure } from '../inbox-words.ts';
import { formatMoney } from '../money.ts';
import type { Markup } from './page.ts';
import { time, times } from './time.ts';

/** Another body is compared with this one. */
interface Base {
  readonly name: string;
  readonly fields: readonly BodyField[];
}

/** What was sent under one signature, and where the bodies differ: from the one that was applied, or else the first. */
export function bodyCards(transition: TransitionDetails): Markup[] {
  const { bodies, expectation } = transition;
  const baseIndex = Math.max(
    0,
    bodies.findIndex(({ isSettled }) => isSettled),
  );
  const all = bodies.map(({ text }) => (text === undefined ? undefined : bodyFields(text)));
  const baseFields = all[baseIndex];
  const base = baseFields && { name: nameOf(baseIndex), fields: baseFields };
  return bodies.map((body, index) => {
    const compared = index === baseIndex ? undefined : base;
    const heading = html`${nameOf(index)}${body.isSettled ? html` ${appliedBadge(transition)}` : ''}`;
    return bodyCard(body, nameOf(index), heading, all[index], compared, expectation);
  });
}

/** A failed payment was applied as well, and is not green. */
function appliedBadge(transition: TransitionDetails): Markup {
  return html`<span class="badge ${isFailure(transition) ? 'off' : 'on'}">applied</span>`;
}

function nameOf(index: number): string {
  return `Body ${index + 1}`;
}

function bodyCard(
  { request, transaction, deliveries, lastAt, refusal }: KeptBody,
  name: string,
  heading: Markup,
  fields: readonly BodyField[] | undefined,
  base: Base | undefined,
  expected: TransitionDetails['expectation'],
): Markup {
  const found = fields && base && differences(base.fields, fields);
  return html`<li class="card">
<h3>${heading}${refusal === undefined ? '' : html` <span class="badge bad">${refusal}</span>`}</h3>
<dl>
<dt>Requested</dt><dd>${claim(request, expected)}</dd>
<dt>Transacted</dt><dd>${claim(transaction, expected)}</dd>
<dt>Received</dt><dd>${times(deliveries)}, last ${time(lastAt)}</dd>
</dl>
${found && base ? differenceList(found, base.name) : ''}
${fields === undefined ? html`<p class="quiet">Its text was removed: it is old.</p>` : wholeBody(fields, found, name)}
</li>`;
}

/** What a body claims about money, in words. */
export function claimed({ currency, amount }: StoredClaim): string {
  return currency === null && amount === null
    ? 'nothing'
    : formatMoney(currency ?? 'no currency', amount ?? 'no amount');
}

function claim(one: StoredClaim, expected: TransitionDetails['expectation']): Markup | string {
  // The inbox keeps both in the form of core's canonicalAmount().
  const isSame = one.currency === expected?.currency && one.amount === expected.amount;
  if (expected === undefined || isSame) return claimed(one);
  return html`<mark>${claimed(one)}</mark>, and the order expects ${formatMoney(expected.currency, expected.amount)}`;
}

function differenceList(found: readonly Difference[], base: string): Markup {
  if (found.length === 0) {
    return html`<p>No value differs from ${base}: only white space or the order of the members does.</p>`;
  }
  return html`<h4>Differs from ${base}</h4>
<dl class="differences">${found
    .slice(0, MAX_FIELDS)
    .map(
      ({ path, before, after }) =>
        html`<dt>${breakable(path)}</dt><dd>${base} ${before === undefined ? 'does not have it' : html`<del>${before.shown}</del>`}, here <ins>${after?.shown ?? 'not present'}</ins></dd>`,
    )}</dl>${notShown(found.length)}`;
}

/** A long path may break where a part of it ends. */
function breakable(path: string): Markup {
  return html`${path.split(/(?<=[._])/).map((part) => html`${part}<wbr>`)}`;
}

function wholeBody(
  fields: readonly BodyField[],
  found: readonly Difference[] | undefined,
  name: string,
): Markup {
  const differing = new Set(found?.map(({ path }) => path));
  return html`<details><summary>All ${fields.length} fields<span class="hidden"> of ${name}</span></summary>
<table><caption class="hidden">The fields of ${name}</caption>
<thead><tr><th scope="col">Field</th><th scope="col">Value</th></tr></thead>
<tbody>${fields
    .slice(0, MAX_FIELDS)
    .map(
      ({ path, shown, isSigned }) =>
        html`<tr><th scope="row">${breakable(path)}${isSigned ? html` <span class="badge signed">signed</span>` : ''}</th><td>${differing.has(path) ? html`<mark>${shown}</mark>` : shown}</td></tr>`,
    )}</tbody>
</table>${notShown(fields.length)}</details>`;
}

function notShown(count: number): Markup | '' {
  return count <= MAX_FIELDS ? '' : html`<p class="quiet">${count - MAX_FIELDS} more are not shown.</p>`;
}
