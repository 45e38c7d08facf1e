import { type Chip, chips, counted, html, type Markup, searchForm, withQuery } from '@payment-service/pages';
import { BULK_ACTS, OPERATIONS } from '../../operator/acts/operations.ts';
import { momentText, PAYMENT_LABELS } from '../../operator/payments/advice.ts';
import type { PaymentFilter } from '../../operator/payments/list-payments.ts';
import type { PaymentSummary } from '../../operator/payments/payment-summary.ts';
import { orderSentences } from '../../operator/payments/sums.ts';
import type { TransitionReason } from '../../states.ts';
import { PAYMENT_STATES, type PaymentState } from '../../verdict/payment-state.ts';
import { countText, wordsOfReason } from '../../words.ts';
import { table } from '../csv.ts';
import { at, consolePage, missingPage, type View } from './page.ts';
import { paymentList, sumsText } from './summary.ts';

const DAY_MS = 86_400_000;
const NAMES = ['state', 'reason', 'search', 'order', 'provider', 'since', 'until', 'after'] as const;
/** A filter as the parts of an address. `needed` and `all` are states here. */
type Parts = Readonly<Partial<Record<(typeof NAMES)[number], string | undefined>>>;

export const isReason = (text: string): text is TransitionReason => /^[a-z_]{1,60}$/.test(text);
const isState = (text: string): text is PaymentState => PAYMENT_STATES.some((state) => state === text);

const partsOf = (query: URLSearchParams): Parts =>
  Object.fromEntries(NAMES.map((name) => [name, query.get(name)?.trim() || undefined]));

const dayIn = (day: string | undefined, moreMs = 0): Date | undefined =>
  day === undefined ? undefined : new Date(Date.parse(`${day}T00:00Z`) + moreMs);

/** undefined if the address is invalid. The days are those of UTC, and the last one is part of the period. */
function filterOf({ state = 'all', reason, since, until, ...others }: Parts): PaymentFilter | undefined {
  if (reason !== undefined && !isReason(reason)) return undefined;
  if (!isState(state) && state !== 'all' && state !== 'needed') return undefined;
  const [from, to] = [dayIn(since), dayIn(until, DAY_MS)];
  if ([from, to].some((day) => Number.isNaN(day?.getTime()))) return undefined;
  return {
    ...(isState(state) && { state }),
    ...(state === 'needed' && { needed: true }),
    ...{ ...others, reason, since: from, until: to },
  };
}

/** Those that need a person first, if there are any and the address does not say which. */
export async function paymentsPage(view: View): Promise<Response> {
  const { inbox, query } = view;
  const counts = await inbox.counts();
  const given = partsOf(query);
  const isAsked = Object.values(given).some((value) => value !== undefined);
  const parts: Parts = {
    ...given,
    state: given.state ?? (isAsked || counts.needed === 0 ? 'all' : 'needed'),
  };
  const filter = filterOf(parts);
  const found = filter && (await inbox.payments(filter));
  if (found === undefined) return missingPage(view);
  const { items, next, lookedBackTo } = found;
  const to = (changed: Parts, path = '/payments'): string =>
    withQuery(at(view, path), { ...parts, after: undefined, ...changed });
  const chip = (label: string, state: string, count?: number): Chip => ({
    ...{ label, href: to({ state, reason: undefined }), isCurrent: parts.state === state },
    ...(count !== undefined && { count: countText(count) }),
  });
  const ofStates = PAYMENT_STATES.filter((state) => counts[state] > 0 || state === parts.state);
  const link = (href: string, label: string): Markup => html`<a class="button" href="${href}">${label}</a>`;
  return consolePage(view, {
    title: parts.state === 'needed' ? 'Payments that need a person' : 'Payments',
    section: '/payments',
    body: html`<div class="head">${chips([
      chip('Need a person', 'needed', counts.needed),
      chip('All', 'all'),
      ...ofStates.map((state) => chip(PAYMENT_LABELS[state], state, counts[state])),
    ])}</div>
${filterForm(view, parts)}
${reasonChips(items, parts, to)}
${items.length === 0 && lookedBackTo === undefined ? nothing(view, parts) : ''}${lookedBackTo && html`<p class="quiet" id="looked">Looked back to ${momentText(lookedBackTo)}. “Older” looks further.</p>`}${items.length > 0 && html`<p class="sums" id="sums">${counted(items.length, 'payment')}${next === undefined ? '' : ' on this page'}: <strong>${sumsText(items)}</strong>. ${orderSentences(filter ?? {}, found).join(' ')}</p>${paymentList(view, 'payments', items)}`}
<nav class="actions" aria-label="Pages of the list">
${parts.after === undefined ? '' : link(to({}), 'Newest')}
${next === undefined ? '' : link(to({ after: next }), 'Older')}
<a class="button" href="${to({}, '/payments.csv')}" download>Download as CSV</a>
${bulkLinks(view, parts, items)}
</nav>`,
  });
}

const filterForm = (view: View, parts: Parts): Markup =>
  searchForm(
    at(view, '/payments'),
    {
      ...{ name: 'search', value: parts.search ?? '', words: 'Part of a reference' },
      label: 'Search by a part of your reference or of the service’s',
    },
    html`<label class="check">Order <input name="order" value="${parts.order}"></label>
<label class="check">Provider <input name="provider" value="${parts.provider}"></label>
<label class="check">Since <input name="since" type="date" value="${parts.since}"></label>
<label class="check">until <input name="until" type="date" value="${parts.until}"> (UTC)</label>`,
    { state: parts.state === 'needed' ? undefined : parts.state, reason: parts.reason },
  );

/** What the payments of this page need. */
function reasonChips(
  items: readonly PaymentSummary[],
  { reason }: Parts,
  to: (changed: Parts) => string,
): Markup | string {
  const reasons = new Set(items.flatMap(({ needs }) => needs ?? []));
  if (reason !== undefined && isReason(reason)) reasons.add(reason);
  if (reasons.size === 0) return '';
  const all = [...reasons].map((one) => ({
    label: wordsOfReason(one).heading,
    href: to({ reason: one === reason ? undefined : one }),
    isCurrent: one === reason,
  }));
  return html`<div class="head" id="reasons">${chips(all, 'What they need')}</div>`;
}

/** Acts on everything that needs a person for one reason; each first shows what it would do. */
function bulkLinks(
  view: View,
  { reason, state: _, after: _a, ...narrowed }: Parts,
  items: readonly PaymentSummary[],
): Markup | string {
  if (reason === undefined || items.length === 0 || Object.values(narrowed).some((one) => one !== undefined))
    return '';
  return html`${BULK_ACTS.filter((act) => view.access.may.includes(act)).map(
    (act) =>
      html`<a class="button" href="${withQuery(at(view, '/acts'), { act, reason })}">${OPERATIONS[act].label} all…</a>`,
  )}`;
}

function nothing(view: View, { state, search, ...others }: Parts): Markup {
  if (search !== undefined)
    return html`<p class="quiet">No payment here has “${search}” in a reference. <a href="${withQuery(at(view, '/payment'), { reference: search })}">Look for exactly this reference</a>.</p>`;
  if (Object.values(others).some((part) => part !== undefined))
    return html`<p class="quiet">No payment here. Empty the fields to see everything.</p>`;
  return html`<p class="quiet">${state === 'needed' ? 'Nothing needs a person.' : 'No payments. The first one will be here once it is expected or reported.'}</p>`;
}

const iso = (date: Date | undefined): string => date?.toISOString() ?? '';
/** The columns of a downloaded list. */
const CELLS: Readonly<Record<string, (one: PaymentSummary) => string>> = {
  merchant_reference: (one) => one.merchant_reference,
  transaction_type: (one) => one.transaction_type,
  state: (one) => one.state,
  needs: (one) => one.needs ?? '',
  order: ({ order }) => order?.id ?? '',
  order_total: ({ order }) => order?.total ?? '',
  expected_currency: ({ expected }) => expected?.currency ?? '',
  expected_amount: ({ expected }) => expected?.amount ?? '',
  deadline: ({ expected }) => iso(expected?.deadline),
  credited_currency: ({ settled }) => settled?.currency ?? '',
  credited_amount: ({ settled }) => settled?.amount ?? '',
  credited_at: ({ settled }) => iso(settled?.at),
  report: ({ settled }) => settled?.report ?? '',
  changed_at: (one) => iso(one.changedAt),
};

/** Everything in the list, read page by page while it is sent. */
export async function paymentsTable(view: View): Promise<Response> {
  const filter = filterOf(partsOf(view.query));
  if (filter === undefined) return missingPage(view);
  const rows = view.inbox.payments({ ...filter, limit: 1000 });
  await rows; // A failure before the first line is a page.
  return table('payments', Object.keys(CELLS), rows, (one) => Object.values(CELLS).map((cell) => cell(one)));
}
