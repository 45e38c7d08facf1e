import {
  type Chip,
  chips,
  counted,
  fieldsOf,
  form,
  html,
  type Markup,
  narrowing,
  paged,
  pageIn,
  searchForm,
  withQuery,
} from '@payment-service/pages';
import type { TransitionSelection } from '../../operator/actions.ts';
import type { ListOptions } from '../../operator/search.ts';
import type { TransitionSummary } from '../../operator/views.ts';
import {
  CLOSED_STATES,
  TRANSITION_STATES,
  type TransitionReason,
  type TransitionState,
} from '../../states.ts';
import { countText, labelOf, SHOWN_STATES, stateOf, wordsOf } from '../../words.ts';
import { table } from '../csv.ts';
import { at, consolePage, missingPage, type Refused, type View } from './page.ts';
import { claimOf, sums, transitionList } from './summary.ts';

/** How many are read for a page. Among them it narrows by provider, sorts and sums. */
const A_WINDOW = 500;
/** At most so many are moved together, and so many of them are shown before. */
const MAX_MOVED = 1000;
const MAX_PREVIEWED = 10;

/** The orders of a list, by the words in its address. */
const ORDERS = {
  amount(one: TransitionSummary, other: TransitionSummary): number {
    const [left, right] = [one, other].map((row) => row.expected ?? claimOf(row)?.claim);
    const order = (left?.currency ?? '\uffff').localeCompare(right?.currency ?? '\uffff', 'en');
    return order || Number(right?.amount ?? -1) - Number(left?.amount ?? -1);
  },
  age: (one: TransitionSummary, other: TransitionSummary): number =>
    Number(one.firstAt) - Number(other.firstAt),
  state: (one: TransitionSummary, other: TransitionSummary): number =>
    SHOWN_STATES.indexOf(one.state) - SHOWN_STATES.indexOf(other.state),
};
type Order = keyof typeof ORDERS;

/** The filter of a list, from its address. */
interface Filter extends Pick<ListOptions, 'state' | 'reason' | 'after' | 'since' | 'until'> {
  /** Either reference. */
  readonly reference?: string | undefined;
  readonly provider?: string | undefined;
  readonly sort?: Order | undefined;
  /** From 1. */
  readonly page: number;
}

const isState = (text: string): text is TransitionState => TRANSITION_STATES.some((state) => state === text);
const isReason = (text: string): text is TransitionReason => /^[a-z_]{1,60}$/.test(text);

/** undefined if the address is invalid. */
export function filterOf(query: URLSearchParams): Filter | undefined {
  const state = query.get('state') || undefined;
  const reason = query.get('reason') || undefined;
  const after = query.get('after') || undefined;
  if (state !== undefined && !isState(state)) return undefined;
  if (reason !== undefined && !isReason(reason)) return undefined;
  if (after !== undefined && !/^[0-9a-f]{64}$/.test(after)) return undefined;
  const [since, until] = [dayIn(query.get('from')), dayIn(query.get('to'))];
  const sort = query.get('sort') || undefined;
  if (since === null || until === null || (sort !== undefined && !isOrder(sort))) return undefined;
  const page = pageIn(query.get('page'));
  const [reference, provider] = [query.get('reference') || undefined, query.get('provider') || undefined];
  return { state, reason, after, since, until, reference, provider, sort, page };
}

const isOrder = (text: string): text is Order => Object.hasOwn(ORDERS, text);

/** null if it is no day. */
function dayIn(text: string | null): Date | undefined | null {
  if (text === null || text === '') return undefined;
  const day = new Date(`${text}T00:00Z`);
  return Number.isNaN(day.getTime()) ? null : day;
}

/** The filter as the parts of an address. */
const partsOf = ({ since, until, page, ...rest }: Filter): Values => ({
  ...rest,
  from: since?.toISOString().slice(0, 10),
  to: until?.toISOString().slice(0, 10),
  page: page === 1 ? undefined : String(page),
});

type Values = Readonly<Record<string, string | undefined>>;

const addressOf = (view: View, values: Values, path = '/transitions'): string =>
  withQuery(at(view, path), values);

/** By the merchant's reference, or else by the service's. A pasted one may have spaces around it. */
export async function findEither(
  { inbox }: View,
  { reference, ...options }: Omit<ListOptions, 'merchant_reference'> & Pick<Filter, 'reference'>,
): Promise<TransitionSummary[]> {
  if (reference === undefined) return inbox.list(options);
  for (const text of new Set([reference, reference.trim()])) {
    for (const field of ['merchant_reference', 'internal_reference']) {
      const found = await inbox.list({ ...options, [field]: text });
      if (found.length > 0) return found;
    }
  }
  return [];
}

/** What the search cannot narrow or order: the provider, and an order other than by time. */
function narrowed(found: readonly TransitionSummary[], { provider, sort }: Filter): TransitionSummary[] {
  const rows = found.filter((row) => provider === undefined || row.provider === provider);
  return sort === undefined ? rows : rows.sort(ORDERS[sort]);
}

export async function transitionsPage(view: View): Promise<Response> {
  const filter = filterOf(view.query);
  if (filter === undefined) return missingPage(view);
  // One more than is read, to know whether there are older ones.
  const found = await findEither(view, { ...searched(filter), limit: A_WINDOW + 1 });
  const window = found.slice(0, A_WINDOW);
  const rows = narrowed(window, filter);
  const { states, reasons } = await view.inbox.stats();
  const { state, reason, reference } = filter;
  const older = found.length > A_WINDOW ? window.at(-1)?.transitionId : undefined;
  const to = (changed: Partial<Filter>): string =>
    addressOf(view, partsOf({ ...filter, page: 1, ...changed }));
  const { rows: shown, isLast, links } = paged(rows, filter.page, (page) => to({ page }));
  const chip = (label: string, narrowed: Partial<Filter>, ...counts: readonly number[]): Chip => ({
    label,
    href: to({ state: undefined, reason: undefined, after: undefined, ...narrowed }),
    count: countText(...counts),
    isCurrent: narrowed.state === state && (narrowed.reason ?? reason) === reason,
  });
  const all = chip('All', {}, ...Object.values(states));
  const ofStates = SHOWN_STATES.filter((one) => states[one] > 0 || one === state).map((one) =>
    chip(labelOf({ state: one, reason: undefined }), { state: one }, states[one]),
  );
  const ofReasons = Object.entries(reasons)
    .filter(([one]) => one === reason || (state !== undefined && stateOf(one) === state))
    .map(([one, count]) => chip(one, { state, reason: one as TransitionReason }, count));
  const sortedBy = (label: string, sort: Order): Markup =>
    html`<a href="${to({ sort: filter.sort === sort ? undefined : sort })}"${filter.sort === sort ? html` aria-current="true"` : ''}>${label}<span class="hidden-text">: ${filter.sort === sort ? 'order by time again' : `order by ${sort}`}</span></a>`;
  const heads = {
    State: sortedBy('State', 'state'),
    Expected: sortedBy('Expected', 'amount'),
    Changed: sortedBy('Changed', 'age'),
  };
  const button = (isShown: boolean, href: string, label: string): Markup | '' =>
    isShown ? html`<a class="button" href="${href}">${label}</a>` : '';
  return consolePage(view, {
    title: 'Transitions',
    section: '/transitions',
    body: html`<div class="head">${chips([all, ...ofStates])}</div>
${narrowForm(view, filter, window)}
${ofReasons.length === 0 ? '' : html`<div class="head" id="reasons">${chips(ofReasons, 'Reasons')}</div>`}
${shown.length === 0 ? html`<p class="quiet">${nothing(filter)}</p>` : html`${sums(rows)}${transitionList(view, 'transitions', shown, heads)}`}
<nav class="actions" aria-label="Pages of the list">
${button(filter.after !== undefined, to({ after: undefined }), 'Newest')}
${links}
${button(older !== undefined && isLast, to({ after: older }), `Before these ${A_WINDOW}`)}
<a class="button" href="${addressOf(view, partsOf({ ...filter, after: undefined, page: 1 }), '/transitions.csv')}" download>Download as CSV</a>
${[reference, filter.provider, filter.since, filter.until].every((one) => one === undefined) ? bulkLinks(view, filter) : ''}
</nav>`,
  });
}

/** The part of a filter that `list()` applies. */
const searched = ({ state, reason, reference, since, until, after }: Filter) => ({
  ...{ state, reason, reference, since, until, after },
});

function narrowForm(view: View, filter: Filter, found: readonly TransitionSummary[]): Markup {
  const { reference = '', provider } = filter;
  const providers = [...new Set([provider, ...found.map((row) => row.provider)])].filter(
    (one) => one !== undefined,
  );
  const { from = '', to = '', state, reason, sort } = partsOf(filter);
  const words = 'Either reference, complete';
  return searchForm(
    at(view, '/transitions'),
    { name: 'reference', value: reference, words, label: 'Search by either reference, complete' },
    html`${narrowing('provider', 'Provider', providers.sort(), provider)}
<label class="check">From <input name="from" type="date" value="${from}"></label>
<label class="check">until <input name="to" type="date" value="${to}"></label>`,
    { state, reason, sort },
  );
}

function nothing({ reference, state, provider, since, until }: Filter): string {
  if (provider !== undefined || since !== undefined || until !== undefined)
    return 'Nothing here has this provider and period. Empty the fields to see everything.';
  if (reference === undefined) return 'No transitions. The first callback will be here, with its amount.';
  const among = state === undefined ? '' : ` that is ${state}`;
  return `Nothing arrived for “${reference}”${among}. A reference must be complete and exact.`;
}

/** Bulk actions on everything in the list, for visitors who may; each first shows what it would move. */
function bulkLinks(view: View, { state, reason }: Filter): Markup | string {
  const actions = (['retry', 'resolve'] as const).filter((action) => view.access.may.includes(action));
  if (state === undefined || state === 'pending' || CLOSED_STATES.includes(state)) return '';
  return html`${actions.map((action) => {
    const href = addressOf(view, { action, state, reason }, '/bulk');
    return html`<a class="button" href="${href}">${action === 'retry' ? 'Retry all…' : 'Close all…'}</a>`;
  })}`;
}

/** What a confirmed form moves: nothing that has changed since its preview. */
export function selectionIn(query: URLSearchParams): TransitionSelection | undefined {
  const { state, reason } = filterOf(query) ?? {};
  const until = new Date(Number(query.get('until') ?? Number.NaN));
  if (state === undefined || Number.isNaN(until.getTime())) return undefined;
  return { state, reason, until, limit: MAX_MOVED };
}

/** Shows which transitions a bulk action would move, before it is confirmed. */
export async function bulkPage(view: View, refused?: Refused): Promise<Response> {
  const { query, access, inbox } = view;
  const action = refused?.filled.form ?? query.get('action') ?? '';
  const { state, reason } = filterOf(query) ?? {};
  const isAllowed = access.may.some((one) => one === action) && (action === 'retry' || action === 'resolve');
  if (!isAllowed || state === undefined) return missingPage(view);
  // First, so that nothing that changes while the page is made is moved.
  const { at: lookedAt, states, reasons } = await inbox.stats();
  const found = await inbox.list({ state, reason, limit: MAX_PREVIEWED });
  const moved = Math.min(MAX_MOVED, (reason === undefined ? states[state] : reasons[reason]) ?? 0);
  const title = `${action === 'retry' ? 'Retry' : 'Close'} ${counted(moved, 'transition')}`;
  const fields = fieldsOf(action, refused?.filled);
  const until = query.get('until') ?? String(lookedAt.getTime());
  const which = { state, ...(reason === undefined ? {} : { reason }) };
  const confirm = form(action, at(view, `/bulk/${action}`), {
    hidden: { proof: view.proof.value, ...which, until },
    fields: html`${fields.field({ name: 'note', label: 'Why', hint: 'Kept with your name, for each of them.' })}${fields.problem()}`,
    button: title,
    kind: 'danger',
  });
  const body = html`<p>${action === 'retry' ? 'Checks them again now, under the same rules and with all attempts.' : 'Closes them, and applies nothing.'} ${
    moved === MAX_MOVED
      ? `These are the ${MAX_MOVED} that changed last; repeat it for the rest.`
      : 'Transitions that change after this page was opened are not moved.'
  }</p>
<section class="card single">${confirm}</section>
<section class="stack"><h2>${moved > MAX_PREVIEWED ? `The first ${MAX_PREVIEWED}` : 'Which ones'}</h2>
<p class="quiet">All of them: <code>${state}</code>${reason === undefined ? '' : html` for the reason <code>${reason}</code>, ${wordsOf({ state, reason }).heading.toLowerCase()}`}.</p>
${transitionList(view, 'moved', found)}</section>`;
  return consolePage(view, {
    title,
    section: '/transitions',
    crumbs: [['/transitions', 'Transitions']],
    refused,
    body: found.length === 0 ? html`<p>There are no transitions to move.</p>` : body,
  });
}

const iso = (date: Date | undefined): string => date?.toISOString() ?? '';
/** The columns of a downloaded list. */
const CELLS: Readonly<Record<string, (one: TransitionSummary) => string>> = {
  transition_id: (one) => one.transitionId,
  state: (one) => one.state,
  reason: (one) => one.reason ?? '',
  event: ({ signed }) => signed.event,
  merchant_reference: ({ signed }) => signed.merchant_reference,
  internal_reference: ({ signed }) => signed.internal_reference,
  transaction_type: ({ signed }) => signed.transaction_type,
  transaction_status: ({ signed }) => signed.transaction_status,
  expected_currency: ({ expected }) => expected?.currency ?? '',
  expected_amount: ({ expected }) => expected?.amount ?? '',
  claimed_currency: (one) => claimOf(one)?.claim.currency ?? '',
  claimed_amount: (one) => claimOf(one)?.claim.amount ?? '',
  provider: (one) => one.provider ?? '',
  attempts: (one) => String(one.attempts),
  deliveries: (one) => String(one.deliveries),
  bodies: (one) => String(one.bodyCount),
  refused_bodies: (one) => String(one.refusedBodies),
  first_at: (one) => iso(one.firstAt),
  changed_at: (one) => iso(one.changedAt),
  next_at: (one) => iso(one.nextAt),
  last_error: (one) => one.lastError ?? '',
};

/** Everything in the list, read page by page while it is sent. */
export async function transitionsTable(view: View): Promise<Response> {
  const filter = filterOf(view.query);
  if (filter === undefined) return missingPage(view);
  return table('transitions', Object.keys(CELLS), pagesOf(view, filter));
}

async function* pagesOf(view: View, filter: Filter, limit = 1000): AsyncGenerator<string[][]> {
  for (let { after } = filter; ; ) {
    const found = await findEither(view, { ...searched(filter), after, limit });
    // In the order of time: a page of the file knows nothing of the next ones.
    yield narrowed(found, { ...filter, sort: undefined }).map((one) =>
      Object.values(CELLS).map((cell) => cell(one)),
    );
    after = found.at(-1)?.transitionId;
    if (found.length < limit) return;
  }
}
