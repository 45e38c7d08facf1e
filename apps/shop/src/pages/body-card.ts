import type { KeptBody, StoredClaim, TransitionDetails } from '@payment-service/inbox';
import { html } from 'hono/html';
import { type BodyField, bodyFields, type Difference, differences, MAX_FIELDS } from '../body-fields.ts';
import { formatMoney, isSameMoney } from '../money.ts';
import type { Markup } from './page.ts';
import { time } from './time.ts';

/** Another body is compared with this one. */
interface Base {
  readonly name: string;
  readonly fields: readonly BodyField[];
}

/** What was sent under one signature, and where the bodies differ: from the one that was applied, or else the first. */
export function bodyCards({ bodies, expectation }: TransitionDetails): Markup[] {
  const baseIndex = Math.max(
    0,
    bodies.findIndex(({ isSettled }) => isSettled),
  );
  const all = bodies.map(({ text }) => (text === undefined ? undefined : bodyFields(text)));
  const baseFields = all[baseIndex];
  const base = baseFields && { name: nameOf(baseIndex), fields: baseFields };
  return bodies.map((body, index) => {
    const compared = index === baseIndex ? undefined : base;
    return bodyCard(body, nameOf(index), all[index], compared, expectation);
  });
}

function nameOf(index: number): string {
  return `Body ${index + 1}`;
}

function bodyCard(
  { request, transaction, deliveries, lastAt, refusal, isSettled }: KeptBody,
  name: string,
  fields: readonly BodyField[] | undefined,
  base: Base | undefined,
  expected: TransitionDetails['expectation'],
): Markup {
  const found = fields && base && differences(base.fields, fields);
  return html`<li class="card">
<h3>${name}${isSettled ? html` <span class="badge on">applied</span>` : ''}${refusal === undefined ? '' : html` <span class="badge bad">${refusal}</span>`}</h3>
<dl>
<dt>Requested</dt><dd>${claim(request, expected)}</dd>
<dt>Transacted</dt><dd>${claim(transaction, expected)}</dd>
<dt>Came</dt><dd>${deliveries} ×, last ${time(lastAt)}</dd>
</dl>
${found && base ? differenceTable(found, base.name) : ''}
${fields === undefined ? html`<p class="quiet">Its text was removed: it is old.</p>` : wholeBody(fields, found)}
</li>`;
}

/** What a body claims about money, in words. */
export function claimed({ currency, amount }: StoredClaim): string {
  return currency === null && amount === null
    ? 'nothing'
    : formatMoney(currency ?? 'no currency', amount ?? 'no amount');
}

function claim(one: StoredClaim, expected: TransitionDetails['expectation']): Markup | string {
  if (expected === undefined || isSameMoney(one, expected)) return claimed(one);
  return html`<mark>${claimed(one)}</mark>, and the order expects ${formatMoney(expected.currency, expected.amount)}`;
}

function differenceTable(found: readonly Difference[], base: string): Markup {
  if (found.length === 0) {
    return html`<p>No value differs from ${base}: only white space or the order of the members does.</p>`;
  }
  return html`<table>
<caption>Differs from ${base}</caption>
<thead><tr><th scope="col">Field</th><th scope="col">${base}</th><th scope="col">Here</th></tr></thead>
<tbody>${found
    .slice(0, MAX_FIELDS)
    .map(
      ({ path, before, after }) =>
        html`<tr><th scope="row">${path}</th><td><del>${before?.shown ?? 'missing'}</del></td><td><ins>${after?.shown ?? 'missing'}</ins></td></tr>`,
    )}</tbody>
</table>${notShown(found.length)}`;
}

function wholeBody(fields: readonly BodyField[], found: readonly Difference[] | undefined): Markup {
  const differing = new Set(found?.map(({ path }) => path));
  return html`<details><summary>All ${fields.length} fields</summary>
<table>
<thead><tr><th scope="col">Field</th><th scope="col">Value</th></tr></thead>
<tbody>${fields
    .slice(0, MAX_FIELDS)
    .map(
      ({ path, shown, isSigned }) =>
        html`<tr><th scope="row">${path}${isSigned ? html` <span class="badge signed">signed</span>` : ''}</th><td>${differing.has(path) ? html`<mark>${shown}</mark>` : shown}</td></tr>`,
    )}</tbody>
</table>${notShown(fields.length)}</details>`;
}

function notShown(count: number): Markup | '' {
  return count <= MAX_FIELDS ? '' : html`<p class="quiet">${count - MAX_FIELDS} more are not shown.</p>`;
}
