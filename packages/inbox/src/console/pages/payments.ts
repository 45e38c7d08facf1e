import {
  type Chip,
  chips,
  counted,
  html,
  type Markup,
  searchForm,
  count as shownCount,
  time,
  withQuery,
} from '@payment-service/pages';
import { BULK_ACTS, OPERATIONS } from '../../operator/acts/operations.ts';
import { momentText, PAYMENT_LABELS } from '../../operator/payments/advice.ts';
import type { PaymentCounts, PaymentFilter, PaymentPage } from '../../operator/payments/list-payments.ts';
import type { PaymentSummary } from '../../operator/payments/payment-summary.ts';
import { orderSentences } from '../../operator/payments/sums.ts';
import type { TransitionReason } from '../../states.ts';
import { dayIn, endIn, momentIn } from '../../time-zone.ts';
import { PAYMENT_STATES, type PaymentState } from '../../verdict/payment-state.ts';
import { countText, wordsOfReason } from '../../words.ts';
import { table } from '../csv.ts';
import { claimOf } from './bodies.ts';
import { at, consolePage, missingPage, type View } from './page.ts';
import { paymentList, SUMMED, sumsTable } from './summary.ts';

const NAMES = ['state', 'reason', 'search', 'order', 'provider', 'since', 'until', 'after'] as const;
/** A filter as the parts of an address. `needed` and `all` are states here. */
type Parts = Readonly<Partial<Record<(typeof NAMES)[number], string | undefined>>>;

export const isReason = (text: string): text is TransitionReason => /^[a-z_]{1,60}$/.test(text);
const isState = (text: string): text is PaymentState => PAYMENT_STATES.some((state) => state === text);

const partsOf = (query: URLSearchParams): Parts =>
  Object.fromEntries(NAMES.map((name) => [name, query.get(name)?.trim() || undefined]));

/** undefined if the address is invalid. The last day is part of the period. */
function filterOf(
  { state = 'all', reason, since, until, ...others }: Parts,
  timeZone: string,
): PaymentFilter | undefined {
  if (reason !== undefined && !isReason(reason)) return undefined;
  if (!isState(state) && state !== 'all' && state !== 'needed') return undefined;
  const from = since === undefined ? undefined : momentIn(timeZone, since);
  const to = until === undefined ? undefined : endIn(timeZone, until);
  if ((since !== undefined && from === undefined) || (until !== undefined && to === undefined))
    return undefined;
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
  const filter = filterOf(parts, view.timeZone);
  const found = filter && (await inbox.payments(filter));
  if (found === undefined) return missingPage(view);
  const { items, next, lookedBackTo, at: readAt } = found;
  // The numbers at the top are of the whole list, and not of the page that is shown of it.
  const isWhole = next === undefined && parts.after === undefined;
  const all = isWhole ? found : await inbox.payments({ ...filter, after: undefined, limit: SUMMED });
  const to = (changed: Parts, path = '/payments'): string =>
    withQuery(at(view, path), { ...parts, after: undefined, ...changed });
  const chip = (label: string, state: string, count?: number): Chip => ({
    ...{ label, href: to({ state, reason: undefined }), isCurrent: parts.state === state },
    // It counts all payments of the state, and not those that the rest of the filter leaves of them.
    ...(count !== undefined && isOnlyState(parts) && { count: countText(count) }),
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
${reasonChips(all, parts, to)}
<p class="quiet" id="shown">${filterText(parts, view.timeZone)}${readAt && html`, as of ${time(readAt.getTime())}`}</p>
${items.length === 0 && lookedBackTo === undefined ? nothing(view, parts) : ''}${lookedBackTo && html`<p class="quiet" id="looked">Searched back to ${momentText(lookedBackTo)}. “Older” goes further back.</p>`}${
  items.length > 0 &&
  html`<div class="stack" id="sums"><p>${countOf(all, parts, counts)}${isWhole ? '' : html`, ${items.length} on this page`}. ${all.next !== undefined && `The sums are of the first ${SUMMED}. `}${orderSentences(filter ?? {}, found).join(' ')}</p>
${sumsTable('list-sums', all.items)}</div>`
}
<nav class="actions" aria-label="The whole list"><a class="button" href="${to({}, '/payments.csv')}" download>Download CSV</a>${monthLinks(view, parts)}${bulkLinks(view, parts, all)}</nav>
${items.length > 0 && paymentList(view, 'payments', items)}
<nav class="actions" aria-label="Pages of the list">
${parts.after === undefined ? '' : link(to({}), 'Newest')}
${next === undefined ? '' : link(to({ after: next }), 'Older')}
</nav>`,
  });
}

/** How many payments the list has. */
function countOf({ items, next }: PaymentPage, parts: Parts, counts: PaymentCounts): string {
  const { state = 'all' } = parts;
  if (isOnlyState(parts) && state === 'needed') return countedText(counts.needed);
  if (isOnlyState(parts) && isState(state)) return countedText(counts[state]);
  return `${next === undefined ? '' : 'At least '}${counted(items.length, 'payment')}`;
}

const isOnlyState = ({ state: _, after: _a, ...narrowed }: Parts): boolean =>
  Object.values(narrowed).every((one) => one === undefined);

const countedText = (count: number): string => `${countText(count)} payment${count === 1 ? '' : 's'}`;

/** What the list shows, in words: also for whom it is printed. */
function filterText(
  { state = 'all', reason, search, order, provider, since, until }: Parts,
  timeZone: string,
): string {
  const which = isState(state)
    ? `${PAYMENT_LABELS[state]} payments`
    : { all: 'All payments', needed: 'Payments that need a person' }[state];
  const days = [since && `from ${since}`, until && `until ${until}`].filter(Boolean).join(' ');
  return [
    which,
    reason && isReason(reason) && `for one reason, ${wordsOfReason(reason).heading}`,
    search && `with “${search}” in a reference`,
    order && `of order ${order}`,
    provider && `with a report that names ${provider}`,
    days && `whose last change was ${days}, both days included (${timeZone})`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** The first and the last day of a month: of this one, or of one before it. */
function monthOf(before: number, timeZone: string): Required<Pick<Parts, 'since' | 'until'>> {
  const [year = 0, month = 0] = dayIn(timeZone, Date.now()).split('-').map(Number);
  const day = (...parts: Parameters<typeof Date.UTC>): string => dayIn('UTC', Date.UTC(...parts));
  return { since: day(year, month - 1 - before, 1), until: day(year, month - before, 0) };
}

/** A month of the list: from there, it is downloaded. */
export function monthLinks(view: View, { after: _, reason: _r, ...parts }: Parts = {}): Markup {
  const months = [
    ['This month', monthOf(0, view.timeZone)],
    ['Last month', monthOf(1, view.timeZone)],
  ] as const;
  return html`${months.map(([label, month]) => {
    const isCurrent = parts.since === month.since && parts.until === month.until;
    return html`<a class="button" href="${withQuery(at(view, '/payments'), { ...parts, state: 'all', ...month })}"${isCurrent ? html` aria-current="true"` : ''}>${label}</a>`;
  })}`;
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
<label class="check">From <input name="since" type="date" value="${parts.since}"></label>
<label class="check">until <input name="until" type="date" value="${parts.until}"> (${view.timeZone})</label>`,
    { state: parts.state === 'needed' ? undefined : parts.state, reason: parts.reason },
  );

/** What the payments of this list need, and how many of them need it. */
function reasonChips(
  { items, next }: PaymentPage,
  { reason }: Parts,
  to: (changed: Parts) => string,
): Markup | string {
  const reasons = new Map(Map.groupBy(items, ({ needs }) => needs));
  if (reason !== undefined && isReason(reason) && !reasons.has(reason)) reasons.set(reason, []);
  const all = [...reasons].flatMap(([one, { length }]) => {
    if (one === undefined) return [];
    const isCurrent = one === reason;
    const href = to({ reason: isCurrent ? undefined : one });
    const count = next === undefined ? shownCount(length) : `${shownCount(length)}+`;
    return [{ label: wordsOfReason(one).heading, href, isCurrent, ...(!isCurrent && { count }) }];
  });
  return all.length === 0 ? '' : html`<div class="head" id="reasons">${chips(all, 'What they need')}</div>`;
}

/** Acts on everything that needs a person for one reason; each first shows what it would do. */
function bulkLinks(view: View, { reason, ...parts }: Parts, { items, next }: PaymentPage): Markup | string {
  if (reason === undefined || items.length === 0 || !isOnlyState(parts)) return '';
  const which = next === undefined ? counted(items.length, 'payment') : 'of them';
  return html`${BULK_ACTS.filter((act) => view.access.may.includes(act)).map(
    (act) =>
      html`<a class="button" href="${withQuery(at(view, '/acts'), { act, reason })}">${OPERATIONS[act].label} all: ${which}…</a>`,
  )}`;
}

/** Why there is none, and whether that is good. */
const NONE: Readonly<Record<PaymentState | 'needed' | 'all', string>> = {
  needed: 'No payment needs a person: nothing waits for a decision.',
  all: 'No payments. The first one appears once it is expected or reported.',
  held: 'No payment is held: no money waits for a decision.',
  unexpected: 'Nothing unexpected was reported: every reported payment is one that you expect.',
  overdue: 'No payment is overdue: none is unpaid after its deadline.',
  open: 'No payment is open: nothing that you expect is still to be paid.',
  paid: 'No payment is paid yet: nothing was credited.',
  reversed: 'No payment was reversed: nothing that was credited was taken back.',
  failed: 'No payment has failed.',
  canceled: 'No payment was canceled.',
};

function nothing(view: View, { state = 'all', search, ...others }: Parts): Markup {
  if (search !== undefined)
    return html`<p class="quiet">No payment here has “${search}” in a reference. <a href="${withQuery(at(view, '/payment'), { reference: search })}">Look for exactly this reference</a>.</p>`;
  if (Object.values(others).some((part) => part !== undefined))
    return html`<p class="quiet">No payment is in this list. Clear the fields to see all.</p>`;
  return html`<p class="quiet">${NONE[isState(state) || state === 'needed' ? state : 'all']}</p>`;
}

const iso = (date: Date | undefined): string => date?.toISOString() ?? '';
/** The last column: it says in the file that nothing proves it. */
const CHARGE = 'charge_claimed_not_signed';
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

/** What the body that was credited claims as its charge. Read for each payment: no list has it. */
async function chargeOf({ inbox }: View, { settled, isArchived }: PaymentSummary): Promise<string> {
  if (settled === undefined || isArchived) return '';
  const { bodies = [] } = (await inbox.report(settled.report)) ?? {};
  const body = bodies.find(({ isSettled }) => isSettled);
  return (body && claimOf(body, 'transaction_charge')) ?? '';
}

/** Everything in the list, read page by page while it is sent. */
export async function paymentsTable(view: View): Promise<Response> {
  const filter = filterOf(partsOf(view.query), view.timeZone);
  if (filter === undefined) return missingPage(view);
  const rows = view.inbox.payments({ ...filter, limit: 1000 });
  await rows; // A failure before the first line is a page.
  async function* charged(): AsyncGenerator<readonly [payment: PaymentSummary, charge: string]> {
    for await (const one of rows) yield [one, await chargeOf(view, one)];
  }
  return table('payments', [...Object.keys(CELLS), CHARGE], charged(), ([one, charge]) => [
    ...Object.values(CELLS).map((cell) => cell(one)),
    charge,
  ]);
}
