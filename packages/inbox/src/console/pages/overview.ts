import { counted, html, type Markup, note } from '@payment-service/pages';
import { type InboxStats, LATE_SECONDS } from '../../operator/health.ts';
import type { TransitionState } from '../../states.ts';
import { countText, STATE_WORDS, WAITS_FOR_PERSON } from '../../words.ts';
import { historyCharts } from './charts.ts';
import { overdueList } from './overdue.ts';
import { at, consolePage, type View } from './page.ts';
import { paidForm } from './paid.ts';
import { transitionList } from './summary.ts';

const SHOWN = 5;
/** States that need an operator first, then those that may. */
const STATES: readonly TransitionState[] = [...WAITS_FOR_PERSON, 'retrying', 'unhandled'];

/** What needs an operator, the search of support, and what the last days brought. */
export async function overviewPage(view: View): Promise<Response> {
  const { inbox } = view;
  const [stats, history] = [await inbox.stats(), await inbox.history()];
  const { states, overdue } = stats;
  const needed = WAITS_FOR_PERSON.map((state) => states[state]);
  const section = (id: string, heading: string, path: string, all: Markup, text: string, rows: Markup) =>
    html`<section class="stack" id="${id}"><div class="head"><h2>${heading}</h2><a href="${at(view, path)}">${all}</a></div>
<p class="quiet">${text}</p>
${rows}</section>`;
  const allOf = (count: number, what: string): Markup =>
    html`All ${countText(count)}<span class="hidden-text"> that are ${what}</span>`;
  const ofStates = STATES.filter((state) => states[state] > 0).map(async (state) => {
    const { heading, meaning, todo } = STATE_WORDS[state];
    const rows = transitionList(view, `${state}-transitions`, await inbox.list({ state, limit: SHOWN }));
    const path = `/transitions?state=${state}`;
    return section(state, heading, path, allOf(states[state], state), `${meaning} ${todo}`, rows);
  });
  const late = overdue === 0 ? [] : await inbox.overdue({ limit: SHOWN });
  const ask = 'Payments whose callback did not arrive by the deadline. Ask the service about them.';
  return consolePage(view, {
    title: 'Overview',
    section: '/',
    says: `${countText(...needed)} need an operator`,
    banners: banners(stats),
    body: html`${tiles(view, stats, needed)}
${paidForm(view, '')}
${needed.every((count) => count === 0) && note('good', 'Nothing waits for an operator.')}
${ofStates}
${late.length > 0 && section('overdue-payments', 'Overdue', '/overdue', allOf(overdue, 'overdue'), ask, overdueList(view, late))}
${historyCharts(history)}`,
  });
}

function tiles(view: View, { states, overdue }: InboxStats, needed: readonly number[]): Markup {
  const rows: readonly (readonly [path: string, label: string, tone: string, ...counts: number[]])[] = [
    [
      '/transitions',
      countText(...needed) === '1' ? 'needs an operator' : 'need an operator',
      'bad',
      ...needed,
    ],
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
  const due = `A transition has been due for ${counted(Math.floor(oldestDueSeconds), 'second')}.`;
  const waiting = `${counted(spooled, 'delivery waits', 'deliveries wait')} in the spool of this machine.`;
  const probably =
    'Probably no worker of this program runs. Nothing is lost, and nothing is applied until one does.';
  const stored = 'The database did not accept them. They are stored automatically once it does.';
  const notes = [
    oldestDueSeconds >= LATE_SECONDS && note('wait', due, probably),
    spooled > 0 && note('wait', waiting, stored),
  ];
  return notes.some(Boolean) ? html`<div class="stack" id="banners">${notes}</div>` : '';
}
