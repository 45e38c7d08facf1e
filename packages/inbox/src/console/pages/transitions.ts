import { chips, type Markup } from '@payment-service/pages';
import { html } from 'hono/html';
import type { ListOptions } from '../../operator/search.ts';
import type { TransitionSummary } from '../../operator/views.ts';
import { TRANSITION_STATES, type TransitionReason, type TransitionState } from '../../states.ts';
import { countText, REASON_WORDS, STATE_WORDS } from '../../words.ts';
import { table } from '../csv.ts';
import { at, consolePage, missingPage, type View } from './page.ts';
import { transitionList } from './summary.ts';

const A_PAGE = 25;

/** The filter of a list, from its address. */
interface Filter {
  readonly state: TransitionState | undefined;
  readonly reason: TransitionReason | undefined;
  /** Either reference. */
  readonly reference: string | undefined;
  readonly after: string | undefined;
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
  return { state, reason, after, reference: query.get('reference') || undefined };
}

const addressOf = (view: View, filter: Partial<Filter>, path = '/transitions'): string => {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given as [string, string][]);
  return at(view, query.size === 0 ? path : `${path}?${query}`);
};

/** By the merchant's reference, or else by the service's. Pasted by a person, it may have spaces around it. */
export async function findEither(
  { inbox }: Pick<View, 'inbox'>,
  {
    reference,
    ...rest
  }: Omit<ListOptions, 'merchant_reference' | 'internal_reference'> & {
    readonly reference: string | undefined;
  },
): Promise<TransitionSummary[]> {
  if (reference === undefined) return inbox.list(rest);
  for (const text of new Set([reference, reference.trim()])) {
    const found = await inbox.list({ ...rest, merchant_reference: text });
    if (found.length > 0) return found;
    const others = await inbox.list({ ...rest, internal_reference: text });
    if (others.length > 0) return others;
  }
  return [];
}

export async function transitionsPage(view: View): Promise<Response> {
  const filter = filterOf(view.query);
  if (filter === undefined) return missingPage(view);
  // One more than is shown, to know whether there are older ones.
  const found = await findEither(view, { ...filter, limit: A_PAGE + 1 });
  const shown = found.slice(0, A_PAGE);
  const { states, reasons } = await view.inbox.stats();
  const { state, reason, reference } = filter;
  const older = found.length > A_PAGE ? shown.at(-1)?.transitionId : undefined;
  const ofState = Object.entries(reasons).filter(
    ([one]) => one === reason || (state !== undefined && stateOf(one) === state),
  );
  return consolePage(view, {
    title: 'Transitions',
    section: '/transitions',
    body: html`<div class="head">${chips([
      {
        href: addressOf(view, { reference }),
        label: 'all',
        count: countText(...Object.values(states)),
        isCurrent: state === undefined,
      },
      ...Object.keys(STATE_WORDS)
        .filter(isState)
        .filter((one) => states[one] > 0 || one === state)
        .map((one) => ({
          href: addressOf(view, { reference, state: one }),
          label: one,
          count: countText(states[one]),
          isCurrent: one === state,
        })),
    ])}${searchForm(view, filter)}</div>
${
  ofState.length === 0
    ? ''
    : html`<div class="head" id="reasons">${chips(
        ofState.map(([one, count]) => ({
          href: addressOf(view, { reference, state, reason: one as TransitionReason }),
          label: one,
          count: countText(count),
          isCurrent: one === reason,
        })),
        'Reasons',
      )}</div>`
}
${shown.length === 0 ? html`<p class="quiet">${nothing(filter)}</p>` : transitionList(view, 'transitions', shown)}
<nav class="actions" aria-label="Pages of the list">
${filter.after === undefined ? '' : html`<a class="button" href="${addressOf(view, { ...filter, after: undefined })}">Newest</a>`}
${older === undefined ? '' : html`<a class="button" href="${addressOf(view, { ...filter, after: older })}">Older</a>`}
<a class="button" href="${addressOf(view, { ...filter, after: undefined }, '/transitions.csv')}" download>Download as CSV</a>
${reference === undefined ? bulkLinks(view, filter) : ''}
</nav>`,
  });
}

const stateOf = (reason: string): TransitionState =>
  Object.hasOwn(REASON_WORDS, reason)
    ? REASON_WORDS[reason as keyof typeof REASON_WORDS].state
    : 'quarantined';

const searchForm = (view: View, { state, reason, reference = '' }: Filter): Markup =>
  html`<form class="search" role="search" id="search" action="${at(view, '/transitions')}">
<label class="hidden-text" for="search-reference">Search by either reference, complete</label>
<input id="search-reference" name="reference" type="search" value="${reference}" placeholder="Either reference, complete">
${state === undefined ? '' : html`<input type="hidden" name="state" value="${state}">`}
${reason === undefined ? '' : html`<input type="hidden" name="reason" value="${reason}">`}
<button>Search</button></form>`;

function nothing({ reference, state }: Filter): string {
  if (reference === undefined) return 'No transitions.';
  const among = state === undefined ? '' : ` that is ${state}`;
  return `Nothing arrived for “${reference}”${among}. A reference must be complete and exact.`;
}

/** Bulk actions on everything in the list, for visitors who may; each first shows what it would move. */
function bulkLinks(view: View, { state, reason }: Filter): Markup | string {
  const actions = (['retry', 'resolve'] as const).filter((action) => view.access.may.includes(action));
  const isMovable = state !== undefined && !['settled', 'superseded', 'resolved', 'pending'].includes(state);
  if (!isMovable) return '';
  return html`${actions.map((action) => {
    const query = new URLSearchParams({ action, state, ...(reason === undefined ? {} : { reason }) });
    return html`<a class="button" href="${at(view, `/bulk?${query}`)}">${action === 'retry' ? 'Retry all…' : 'Resolve all…'}</a>`;
  })}`;
}

const iso = (date: Date | undefined): string => date?.toISOString() ?? '';
const SIGNED = ['event', 'merchant_reference', 'internal_reference', 'transaction_type'] as const;
/** The columns of a downloaded list. */
const CELLS: Readonly<Record<string, (one: TransitionSummary) => string>> = {
  transition_id: (one) => one.transitionId,
  state: (one) => one.state,
  reason: (one) => one.reason ?? '',
  ...Object.fromEntries(SIGNED.map((name) => [name, (one: TransitionSummary) => one.signed[name]])),
  transaction_status: (one) => one.signed.transaction_status,
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
  return table('transitions', Object.keys(CELLS), pages(view, filter));
}

async function* pages(view: View, filter: Filter): AsyncGenerator<readonly (readonly string[])[]> {
  const limit = 1000;
  for (let after = filter.after; ; ) {
    const found = await findEither(view, { ...filter, after, limit });
    yield found.map((one) => Object.values(CELLS).map((cell) => cell(one)));
    after = found.at(-1)?.transitionId;
    if (found.length < limit) return;
  }
}
