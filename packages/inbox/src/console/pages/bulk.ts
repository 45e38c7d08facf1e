import { counted, type Filled, fieldsOf, form } from '@payment-service/pages';
import { html } from 'hono/html';
import type { TransitionSelection } from '../../operator/actions.ts';
import { wordsOf } from '../../words.ts';
import { at, consolePage, missingPage, type View } from './page.ts';
import { transitionList } from './summary.ts';
import { filterOf } from './transitions.ts';

const MOST = 1000;
const SHOWN = 10;

/** What a confirmed form moves: nothing that has changed since its preview. */
export function selectionIn(query: URLSearchParams): TransitionSelection | undefined {
  const { state, reason } = filterOf(query) ?? {};
  const until = Number(query.get('until') ?? Number.NaN);
  if (state === undefined || !Number.isSafeInteger(until)) return undefined;
  return { state, reason, until: new Date(until), limit: MOST };
}

/** Shows which transitions a bulk action would move, before it is confirmed. */
export async function bulkPage(
  view: View,
  refused?: { readonly filled: Filled; readonly text: string; readonly status: 409 | 422 },
): Promise<Response> {
  const action = view.query.get('action');
  const { state, reason } = filterOf(view.query) ?? {};
  if ((action !== 'retry' && action !== 'resolve') || state === undefined) return missingPage(view);
  if (!view.access.may.includes(action)) return missingPage(view);
  const found = await view.inbox.list({ state, reason, limit: SHOWN });
  const [newest] = found;
  const { states, reasons } = await view.inbox.stats();
  const moved = Math.min(MOST, (reason === undefined ? states[state] : reasons[reason]) ?? 0);
  const title = `${action === 'retry' ? 'Retry' : 'Resolve'} ${counted(moved, 'transition')}`;
  const fields = fieldsOf(action, refused?.filled);
  const kept = { action, state, ...(reason === undefined ? {} : { reason }) };
  return consolePage(view, {
    title,
    section: '/transitions',
    crumbs: [['/transitions', 'Transitions']],
    status: refused?.status ?? 200,
    refused: refused?.text,
    body:
      newest === undefined
        ? html`<p>There are no transitions to move.</p>`
        : html`<p>${action === 'retry' ? 'Checks them again now, under the same rules and with all attempts.' : 'Closes them, and applies nothing.'} ${
            moved === MOST
              ? `These are the ${MOST} that changed last; repeat it for the rest.`
              : 'Transitions that change after this page was opened are not moved.'
          }</p>
<section class="card single">${form(action, at(view, '/bulk'), {
            hidden: {
              proof: view.proof.value,
              ...kept,
              until: view.query.get('until') ?? String(newest.changedAt.getTime() + 1),
            },
            fields: html`${fields.field({ name: 'note', label: 'Why', hint: 'Kept with your name, for each of them.' })}${fields.problem()}`,
            button: title,
            kind: 'danger',
          })}</section>
<section class="stack"><h2>${moved > SHOWN ? `The first ${SHOWN}` : 'Which ones'}</h2>
<p class="quiet">All of them: <code>${state}</code>${reason === undefined ? '' : html` for the reason <code>${reason}</code>, ${wordsOf({ state, reason }).heading.toLowerCase()}`}.</p>
${transitionList(view, 'moved', found)}</section>`,
  });
}
