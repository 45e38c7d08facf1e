import { badge, count, frame, type Markup, span } from '@payment-service/pages';
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Service } from '../../service/service.ts';
import type { RefusalStatus } from '../../state/refusal.ts';
import type { Dashboard } from './dashboard.ts';
import { button } from './form.ts';
import { keysPanel } from './keys.ts';
import { page } from './layout.ts';
import { troubled } from './outcome.ts';
import { misbehaviourLabel } from './presets.ts';
import { takeSaid } from './said.ts';

interface Content {
  readonly title: string;
  /** The address of its section in the navigation; none by default. */
  readonly section?: string;
  readonly body: Markup;
  /** Beside the heading: a state and buttons. */
  readonly beside?: Markup | string;
  /** The pages above this one, the highest first. */
  readonly crumbs?: readonly (readonly [href: string, label: string])[];
  readonly status?: 200 | RefusalStatus;
  /** What is read out when it changes; nothing by default. */
  readonly says?: string;
}

const PRODUCT = 'Payment service sandbox';
const REFUSED = 'Refused. Nothing was saved or sent.';

/** A page of the dashboard: header, navigation, what is unusual now, and one main part. */
export function framed(c: Context, dashboard: Dashboard, content: Content): Promise<Response> {
  const { service } = dashboard;
  const { title, section, body, beside = '', crumbs = [], status = 200, says } = content;
  const trouble = troubled(dashboard);
  const said = c.req.method === 'POST' ? REFUSED : takeSaid(c);
  return page(c, {
    status,
    script: true,
    title: `${trouble.length === 0 ? '' : `(${trouble.length}) `}${title} · ${PRODUCT}`,
    body: frame({
      product: PRODUCT,
      name: 'the sandbox',
      title,
      sections: dashboard.sections,
      section,
      body,
      brand: html`${badge('info', 'Simulated')}${newestTrouble(trouble)}${keysPanel(c, dashboard)}`,
      banners: banners(service),
      beside,
      crumbs,
      version: service.changes.version,
      says,
      said,
      isRefused: said === REFUSED,
    }),
  });
}

/** The way to the newest delivery that failed, first on every page. */
function newestTrouble(groups: ReturnType<typeof troubled>): Markup | string {
  const newest = groups.at(-1)?.newest;
  if (newest === undefined) return '';
  const words = `${count(groups.length)} ${groups.length === 1 ? 'needs' : 'need'} attention: delivery ${newest.id}`;
  return badge('bad', words, `/deliveries/${newest.id}`);
}

/** What makes the sandbox behave unexpectedly, each with the button that ends it. */
function banners(service: Service): Markup | string {
  const { misbehave, clockOffset, api_latency_ms, api_error } = service.settings();
  const faults = [
    ...(api_latency_ms > 0 ? [`${count(api_latency_ms)} ms late`] : []),
    ...(api_error === null ? [] : [`with HTTP ${api_error}`]),
  ];
  const shown: Markup[] = [];
  const banner = (id: string, text: Markup, end: Markup): void => {
    shown.push(html`<div class="head note wait" id="${id}"><span>${text}</span>${end}</div>`);
  };
  if (Object.keys(misbehave).length > 0)
    banner(
      'misbehaving',
      html`<strong>Callbacks misbehave:</strong> ${misbehaviourLabel(misbehave)}.`,
      button('defaults', 'Back to normal', { at: 'main', name: 'misbehave', value: 'none' }),
    );
  if (faults.length > 0)
    banner(
      'api-faults',
      html`<strong>The API answers ${faults.join(', ')}.</strong>`,
      button('api', 'Answer normally', { at: 'main' }),
    );
  if (clockOffset !== 0)
    banner(
      'clock-moved',
      html`<strong>The clock is ${span(clockOffset)} ahead.</strong> Times on these pages are the sandbox's.`,
      button('clock/reset', 'Set to now', { at: 'main' }),
    );
  return shown.length === 0 ? '' : html`<div class="stack" id="banners">${shown}</div>`;
}

/** Whether a browser asks for an address of the dashboard. Everything else gets the envelope. */
export const wantsPage = (c: Context): boolean =>
  c.req.method === 'GET' &&
  !/^\/(data|sandbox)\//.test(c.req.path) &&
  (c.req.header('accept') ?? '').includes('text/html');

/** A page that says that there is nothing. */
export const notFound = (c: Context, dashboard: Dashboard, what = 'page'): Promise<Response> =>
  framed(c, dashboard, {
    status: 404,
    title: `No such ${what}`,
    body: html`<p>There is nothing at <code>${c.req.path}</code>. The sandbox may have been reset.</p>
<p><a href="/">Go to the overview</a> or <a href="/transactions">search the transactions</a>.</p>`,
  });
