import { counted, fieldsOf, form } from '@payment-service/pages';
import { html } from 'hono/html';
import type { TransitionSelection } from '../../operator/actions.ts';
import { wordsOf } from '../../words.ts';
import { at, consolePage, missingPage, type Refused, type View } from './page.ts';
import { transitionList } from './summary.ts';
import { filterOf } from './transitions.ts';

const MOST = 1000;
const SHOWN = 10;

/** What a confirmed form moves: nothing that has changed since its preview. */
export function selectionIn(query: URLSearchParams): TransitionSelection | undefined {
  const { state, reason } = filterOf(query) ?? {};
  const until = new Date(Number(query.get('until') ?? Number.NaN));
  if (state === undefined || Number.isNaN(until.getTime())) return undefined;
  return { state, reason, until, limit: MOST };
}

/** Shows which transitions a bulk action would move, before it is confirmed. */
export async function bulkPage(view: View, refused?: Refused): Promise<Response> {
  const { query, access, inbox } = view;
  const action = query.get('action') ?? '';
  const { state, reason } = filterOf(query) ?? {};
  const isAllowed = access.may.some((one) => one === action) && (action === 'retry' || action === 'resolve');
  if (!isAllowed || state === undefined) return missingPage(view);
  const found = await inbox.list({ state, reason, limit: SHOWN });
  const [newest] = found;
  const { states, reasons } = await inbox.stats();
  const moved = Math.min(MOST, (reason === undefined ? states[state] : reasons[reason]) ?? 0);
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
    moved === MOST
      ? `These are the ${MOST} that changed last; repeat it for the rest.`
      : 'Transitions that change after this page was opened are not moved.'
  }</p>
<section class="card single">${confirm}</section>
<section class="stack"><h2>${moved > SHOWN ? `The first ${SHOWN}` : 'Which ones'}</h2>
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
