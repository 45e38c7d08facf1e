import { type Chip, chips, counted, fieldsOf, form, type Markup } from '@payment-service/pages';
import { html } from 'hono/html';
import type { TransitionSelection } from '../../operator/actions.ts';
import type { ListOptions } from '../../operator/search.ts';
import type { TransitionSummary } from '../../operator/views.ts';
import {
  CLOSED_STATES,
  TRANSITION_STATES,
  type TransitionReason,
  type TransitionState,
} from '../../states.ts';
import { countText, SHOWN_STATES, stateOf, wordsOf } from '../../words.ts';
import { table } from '../csv.ts';
import { at, consolePage, missingPage, type Refused, type View } from './page.ts';
import { transitionList } from './summary.ts';

const A_PAGE = 25;
/** At most so many are moved together, and so many of them are shown before. */
const MAX_MOVED = 1000;
const MAX_PREVIEWED = 10;

/** The filter of a list, from its address. */
interface Filter extends Pick<ListOptions, 'state' | 'reason' | 'after'> {
  /** Either reference. */
  readonly reference?: string | undefined;
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

type Values = Readonly<Record<string, string | undefined>>;

const addressOf = (view: View, values: Values, path = '/transitions'): string => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given as [string, string][]);
  return at(view, query.size === 0 ? path : `${path}?${query}`);
};

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

export async function transitionsPage(view: View): Promise<Response> {
  const filter = filterOf(view.query);
  if (filter === undefined) return missingPage(view);
  // One more than is shown, to know whether there are older ones.
  const found = await findEither(view, { ...filter, limit: A_PAGE + 1 });
  const shown = found.slice(0, A_PAGE);
  const { states, reasons } = await view.inbox.stats();
  const { state, reason, reference } = filter;
  const older = found.length > A_PAGE ? shown.at(-1)?.transitionId : undefined;
  const chip = (label: string, narrowed: Partial<Filter>, ...counts: readonly number[]): Chip => ({
    label,
    href: addressOf(view, { reference, ...narrowed }),
    count: countText(...counts),
    isCurrent: narrowed.state === state && (narrowed.reason ?? reason) === reason,
  });
  const all = chip('all', {}, ...Object.values(states));
  const ofStates = SHOWN_STATES.filter((one) => states[one] > 0 || one === state).map((one) =>
    chip(one, { state: one }, states[one]),
  );
  const ofReasons = Object.entries(reasons)
    .filter(([one]) => one === reason || (state !== undefined && stateOf(one) === state))
    .map(([one, count]) => chip(one, { state, reason: one as TransitionReason }, count));
  return consolePage(view, {
    title: 'Transitions',
    section: '/transitions',
    body: html`<div class="head">${chips([all, ...ofStates])}${searchForm(view, filter)}</div>
${ofReasons.length === 0 ? '' : html`<div class="head" id="reasons">${chips(ofReasons, 'Reasons')}</div>`}
${shown.length === 0 ? html`<p class="quiet">${nothing(filter)}</p>` : transitionList(view, 'transitions', shown)}
<nav class="actions" aria-label="Pages of the list">
${filter.after === undefined ? '' : html`<a class="button" href="${addressOf(view, { ...filter, after: undefined })}">Newest</a>`}
${older === undefined ? '' : html`<a class="button" href="${addressOf(view, { ...filter, after: older })}">Older</a>`}
<a class="button" href="${addressOf(view, { ...filter, after: undefined }, '/transitions.csv')}" download>Download as CSV</a>
${reference === undefined ? bulkLinks(view, filter) : ''}
</nav>`,
  });
}

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
  if (state === undefined || state === 'pending' || CLOSED_STATES.includes(state)) return '';
  return html`${actions.map((action) => {
    const href = addressOf(view, { action, state, reason }, '/bulk');
    return html`<a class="button" href="${href}">${action === 'retry' ? 'Retry all…' : 'Resolve all…'}</a>`;
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
  const action = query.get('action') ?? '';
  const { state, reason } = filterOf(query) ?? {};
  const isAllowed = access.may.some((one) => one === action) && (action === 'retry' || action === 'resolve');
  if (!isAllowed || state === undefined) return missingPage(view);
  const found = await inbox.list({ state, reason, limit: MAX_PREVIEWED });
  const [newest] = found;
  const { states, reasons } = await inbox.stats();
  const moved = Math.min(MAX_MOVED, (reason === undefined ? states[state] : reasons[reason]) ?? 0);
  const title = `${action === 'retry' ? 'Retry' : 'Resolve'} ${counted(moved, 'transition')}`;
  const fields = fieldsOf(action, refused?.filled);
  const until = query.get('until') ?? String((newest?.changedAt.getTime() ?? 0) + 1);
  const which = { action, state, ...(reason === undefined ? {} : { reason }) };
  const confirm = form(action, at(view, '/bulk'), {
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
    refused: refused?.status,
    body: newest === undefined ? html`<p>There are no transitions to move.</p>` : body,
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
    const found = await findEither(view, { ...filter, after, limit });
    yield found.map((one) => Object.values(CELLS).map((cell) => cell(one)));
    after = found.at(-1)?.transitionId;
    if (found.length < limit) return;
  }
}
