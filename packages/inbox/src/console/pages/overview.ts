import { counted, type Markup, note } from '@payment-service/pages';
import { html } from 'hono/html';
import type { InboxStats } from '../../operator/health.ts';
import type { TransitionState } from '../../states.ts';
import { countText, STATE_WORDS, WAITS_FOR_PERSON } from '../../words.ts';
import { overdueList } from './overdue.ts';
import { at, consolePage, type View } from './page.ts';
import { paidForm } from './paid.ts';
import { inline, transitionList } from './summary.ts';

const SHOWN = 5;
const LATE_SECONDS = 60;
/** States that need a person first, then those that may. */
const STATES: readonly TransitionState[] = [...WAITS_FOR_PERSON, 'retrying', 'unhandled'];

/** What needs a person, and links to everything else. */
export async function overviewPage(view: View): Promise<Response> {
  const { inbox } = view;
  const stats = await inbox.stats();
  const open = STATES.filter((state) => stats.states[state] > 0);
  const groups = await Promise.all(
    open.map(async (state) => [state, await inbox.list({ state, limit: SHOWN })] as const),
  );
  const overdue = stats.overdue === 0 ? [] : await inbox.overdue({ limit: SHOWN });
  const needed = WAITS_FOR_PERSON.map((state) => stats.states[state]);
  const isNone = needed.every((count) => count === 0);
  return consolePage(view, {
    title: 'Overview',
    section: '/',
    says: `${countText(...needed)} need a person`,
    banners: banners(stats),
    body: html`${paidForm(view, '')}
${tiles(view, stats, needed)}
${isNone ? note('good', 'Nothing waits for a person.') : ''}
${groups.map(
  ([state, found]) =>
    html`<section class="stack" id="${state}"><div class="head"><h2>${STATE_WORDS[state].heading}</h2>
<a href="${at(view, `/transitions?state=${state}`)}">All ${countText(stats.states[state])}<span class="hidden-text"> that are ${state}</span></a></div>
<p class="quiet">${inline(`${STATE_WORDS[state].meaning} ${STATE_WORDS[state].todo}`)}</p>
${transitionList(view, `${state}-transitions`, found)}</section>`,
)}
${
  overdue.length === 0
    ? ''
    : html`<section class="stack" id="overdue-payments"><div class="head"><h2>Overdue</h2><a href="${at(view, '/overdue')}">All ${countText(stats.overdue)}<span class="hidden-text"> that are overdue</span></a></div>
<p class="quiet">Payments whose callback has not come by their deadline. Ask the service about them.</p>
${overdueList(view, overdue)}</section>`
}`,
  });
}

function tiles(view: View, { states, overdue }: InboxStats, needed: readonly number[]): Markup {
  const rows: readonly (readonly [path: string, label: string, tone: string, ...counts: number[]])[] = [
    ['/transitions', countText(...needed) === '1' ? 'needs a person' : 'need a person', 'bad', ...needed],
    ['/overdue', 'overdue', 'wait', overdue],
    ['/transitions?state=retrying', 'retrying', 'wait', states.retrying],
    ['/transitions?state=pending', 'about to be applied', 'info', states.pending],
    ['/transitions?state=settled', 'applied', 'good', states.settled],
  ];
  return html`<div class="tiles" id="counts">${rows.map(([path, label, tone, ...counts]) => {
    const text = countText(...counts);
    return html`<a class="tile ${text === '0' ? 'neutral' : tone}" href="${at(view, path)}"><strong>${text}</strong><div class="quiet">${label}</div></a>`;
  })}</div>`;
}

/** Problems of the inbox as a whole. */
function banners({ oldestDueSeconds, spooled }: InboxStats): Markup | string {
  const late = Math.floor(oldestDueSeconds);
  if (late < LATE_SECONDS && spooled === 0) return '';
  return html`<div class="stack" id="banners">${
    late < LATE_SECONDS
      ? ''
      : note(
          'wait',
          `A transition has been due for ${counted(late, 'second')}.`,
          'Probably no process runs inbox.work(). Nothing is lost, and nothing is applied until one does.',
        )
  }${
    spooled === 0
      ? ''
      : note(
          'wait',
          `${counted(spooled, 'delivery waits', 'deliveries wait')} in the spool of this machine.`,
          'The database did not accept them. They are stored automatically once it does.',
        )
  }</div>`;
}
