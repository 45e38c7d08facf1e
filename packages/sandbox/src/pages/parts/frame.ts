import {
  badge,
  copyable,
  copyButton,
  count,
  documentOf,
  frame,
  type Markup,
  pageHeaders,
  span,
} from '@payment-service/pages';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import type { Service } from '../../service/service.ts';
import type { RefusalStatus } from '../../state/refusal.ts';
import { button } from './form.ts';
import { troubled } from './outcome.ts';
import type { Content, Links } from './page.ts';
import { misbehaviourLabel } from './presets.ts';

const PRODUCT = 'Payment service sandbox';
const COOKIE = 'sandbox-said';
const REFUSED = 'Refused. Nothing was saved or sent.';

/** A page of the service: header, navigation, what is unusual now, and one main part. */
export function framed(
  c: Context,
  service: Service,
  content: Content & { readonly sections: Links },
): Promise<Response> {
  const trouble = troubled(service);
  const said = c.req.method === 'POST' ? REFUSED : takeSaid(c);
  return page(c, {
    status: content.status ?? 200,
    script: true,
    title: `${trouble.length === 0 ? '' : `(${trouble.length}) `}${content.title} · ${PRODUCT}`,
    body: frame({
      ...content,
      product: PRODUCT,
      name: 'the sandbox',
      brand: html`${badge('info', 'Simulated')}${newestTrouble(trouble)}${keysPanel(c, service)}`,
      banners: banners(service),
      version: service.changes.version,
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

/** Whether a browser asks for an address of the service. Everything else gets the envelope. */
export const wantsPage = (c: Context): boolean =>
  c.req.method === 'GET' &&
  !/^\/(data|sandbox)\//.test(c.req.path) &&
  (c.req.header('accept') ?? '').includes('text/html');

/** What is shown where there is nothing. */
export const nothing = (c: Context, what = 'page'): Content => ({
  status: 404,
  title: `No such ${what}`,
  body: html`<p>There is nothing at <code>${c.req.path}</code>. The sandbox may have been reset.</p>
<p><a href="/">Go to the overview</a> or <a href="/transactions">search the transactions</a>.</p>`,
});

/** The address and the three keys, on every page. They stay hidden until they are asked for: screens are shared. */
function keysPanel(c: Context, { account }: Service): Markup {
  const { origin } = new URL(c.req.url);
  const { publicKey, secretKey, signingKey } = account;
  const env = `BASE_URL=${origin}\nPUBLIC_KEY=${publicKey}\nSECRET_KEY=${secretKey}\nSIGNING_KEY=${signingKey}\n`;
  const values = [
    ['address', 'Address', origin],
    ['public-key', 'Public key', publicKey],
    ['secret-key', 'Secret key', secretKey],
    ['signing-key', 'Signing key', signingKey],
  ] as const;
  return html`<details class="keys" id="keys"><summary>Keys</summary>
<dl class="facts">${values.map(
    ([id, label, value]) =>
      html`<dt>${label}</dt><dd class="head"><code id="${id}">${value}</code>${copyButton(id, html`Copy<span class="hidden-text"> ${label.toLowerCase()}</span>`)}</dd>`,
  )}</dl>
${copyable('env', 'All as .env', env)}</details>`;
}

/** A whole page. `formsTo`: where its forms may lead. `script`: whether it loads the live module. */
export async function page(
  c: Context,
  content: { title: string; body: Markup; status?: 200 | RefusalStatus; formsTo?: string; script?: boolean },
): Promise<Response> {
  return c.html(await documentOf(content), content.status ?? 200, pageHeaders(content));
}

/** Confirms something on the next page that the reader sees, with and without script. */
export const say = (c: Context, text: string): void =>
  setCookie(c, COOKIE, text, { path: '/', httpOnly: true, sameSite: 'Strict', maxAge: 60 });

/** What is to be confirmed on this page, once. An update that the live module asks for leaves it. */
function takeSaid(c: Context): string {
  if (c.req.header('x-refresh') !== undefined) return '';
  const text = getCookie(c, COOKIE) ?? '';
  if (text !== '') deleteCookie(c, COOKIE, { path: '/' });
  return text;
}
