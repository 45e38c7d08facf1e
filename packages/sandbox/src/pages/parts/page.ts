import {
  badge,
  confirmationIn,
  copyable,
  copyButton,
  count,
  documentOf,
  type Filled,
  type FrameContent,
  fieldsOf,
  frame,
  hiddenFields,
  html,
  type Markup,
  pageHeaders,
  form as plainForm,
  span,
} from '@payment-service/pages';
import type { Context } from 'hono';
import type { Service } from '../../service/service.ts';
import type { RefusalStatus, SandboxRefusal } from '../../state/refusal.ts';
import { troubled } from './delivery-states.ts';
import { misbehaviourLabel } from './presets.ts';

export type Links = readonly (readonly [href: string, label: string])[];

/**
 * What a page shows inside the frame. Its default section is the first part of its address, and its default parent is that
 * section.
 */
export interface Content
  extends Pick<FrameContent, 'title' | 'body' | 'beside' | 'section' | 'crumbs' | 'says'> {
  /** The answer to a form, shown once. */
  readonly said?: string | undefined;
  /** True if it is requested only once, because its content cannot be requested again. */
  readonly isOnce?: boolean;
  /** @default 200, or that of the refusal */
  readonly status?: RefusalStatus | undefined;
}

/**
 * Performs the action of a form. Returns the confirmation, which is shown on the page of the form, or on the page `to`. Throws
 * a SandboxRefusal.
 */
export type Action = (
  fields: Readonly<Record<string, string>>,
  service: Service,
  c: Context,
) => Done | Promise<Done>;
type Done = string | { readonly said: string; readonly to: string };

/** A page and the actions of its forms, by the address below /dashboard to which they are sent. */
export interface Page {
  /** Its name in the navigation; undefined if it is not listed there. */
  readonly section?: string;
  readonly show: (service: Service, c: Context, refused?: Filled) => Content;
  /** When one of these is refused, its form is shown again with the input. */
  readonly forms?: Readonly<Record<string, Action>>;
  /** True if its form is sent to its own address and answered by `show`: nothing is stored. */
  readonly isAsked?: boolean;
  /** Forms without fields. */
  readonly buttons?: Readonly<Record<string, Action>>;
}

export const idIn = (c: Context): number => Number(c.req.param('id'));

/** The form's names for fields that requests name differently. */
const fieldNames: Readonly<Record<string, string>> = {
  provider_code: 'provider',
  mode: 'ending',
  outcome: 'ending',
};

/** The message for the reader, whose field the page shows. */
export function sentence({ message }: SandboxRefusal): string {
  const [, rest = ''] = /^[a-z_]+: (.+?)\.?$/s.exec(message) ?? [];
  return /^(must|is) /.test(rest) ? `This ${rest}.` : message;
}

/** A refused form shows its input again, and what is wrong. */
export const refusedForm = (form: string, typed: Filled['typed'], refusal: SandboxRefusal): Filled => {
  const { field = '' } = refusal;
  return { form, typed, problem: { text: sentence(refusal), field: fieldNames[field] ?? refusal.field } };
};

type Fields = ReturnType<typeof fieldsOf>;
type FormContent = Omit<Parameters<typeof plainForm>[2], 'fields'> & { fields: (own: Fields) => Markup };

/**
 * A form with one button. After a refusal, it shows its input and the reason. The reader returns to its id.
 *
 * @param action below /dashboard, or a path.
 */
export function form(id: string, action: string, filled: Filled | undefined, content: FormContent): Markup {
  const own = fieldsOf(id, filled);
  const fields = html`${content.fields(own)}${own.problem()}`;
  return plainForm(id, action.startsWith('/') ? action : `/dashboard/${action}`, { ...content, fields });
}

/** A button that loads the page again with the input, and sends nothing. */
export const askAgain = (path: string, label: string): Markup =>
  html`<button formmethod="get" formaction="${path}">${label}</button>`;

/** A button that does one thing. The reader returns to the id `at`. */
export function button(
  action: string,
  label: string | Markup,
  given: { at: string; name?: string; value?: string; kind?: 'main' | 'danger' | '' },
): Markup {
  const { at, name, value = '', kind = '' } = given;
  const id = `${at}-${action}-${value}`.replaceAll(/[^\w-]/g, '-');
  const hidden = hiddenFields({ at, ...(name === undefined ? {} : { [name]: value }) });
  return html`<form method="post" action="/dashboard/${action}" id="${id}">${hidden}<button class="${kind}">${label}</button></form>`;
}

const PRODUCT = 'Payment service sandbox';
const POLL_MS = 1000;
const confirmation = confirmationIn('sandbox-said');
const REFUSED = 'Refused. Nothing was saved or sent.';

/** A page of the dashboard: header, navigation, current warnings, and one main part. */
export function framed(
  c: Context,
  service: Service,
  content: Content & { readonly sections: Links },
): Promise<Response> {
  const trouble = troubled(service);
  const isRefused = c.req.method === 'POST' && content.status !== undefined;
  const said = content.said ?? (isRefused ? REFUSED : takeSaid(c));
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
      pollMs: content.isOnce ? undefined : POLL_MS,
      said,
      isRefused,
    }),
  });
}

/** The link to what needs attention, and to the newest of it, first on every page. */
function newestTrouble(groups: ReturnType<typeof troubled>): Markup | string {
  const newest = groups.at(-1)?.newest;
  if (newest === undefined) return '';
  const link = html`<a class="minor" href="/deliveries/${newest.id}">Newest: delivery ${newest.id}</a>`;
  return groups.length === 1
    ? badge(
        'bad',
        html`<span>1 needs attention<span class="minor">: delivery ${newest.id}</span></span>`,
        `/deliveries/${newest.id}`,
      )
    : html`${badge('bad', `${count(groups.length)} need attention`, '/deliveries?state=attention')}${link}`;
}

/** The settings that make the sandbox behave unexpectedly, each with a button that ends it. */
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
  if (Object.keys(misbehave).length > 0) {
    const text = html`<strong>Callbacks misbehave:</strong> ${misbehaviourLabel(misbehave)}.`;
    const none = { at: 'main', name: 'misbehave', value: 'none' };
    banner('misbehaving', text, button('defaults', 'Back to normal', none));
  }
  if (faults.length > 0) {
    const text = html`<strong>The API answers ${faults.join(', ')}.</strong>`;
    banner('api-faults', text, button('api', 'Answer normally', { at: 'main' }));
  }
  if (clockOffset !== 0) {
    const text = html`<strong>The clock is ${span(clockOffset)} ahead.</strong> Times on these pages are the sandbox's.`;
    banner('clock-moved', text, button('clock/reset', 'Set to now', { at: 'main' }));
  }
  return shown.length === 0 ? '' : html`<div class="stack" id="banners">${shown}</div>`;
}

/** Whether a browser requests a page of the dashboard. All other requests get the envelope. */
export const wantsPage = (c: Context): boolean =>
  c.req.method === 'GET' &&
  !/^\/(data|sandbox)\//.test(c.req.path) &&
  (c.req.header('accept') ?? '').includes('text/html');

/** Shown at an unknown address. */
export const nothing = (c: Context, what = 'page'): Content => ({
  status: 404,
  title: `No such ${what}`,
  body: html`<p>There is nothing at <code>${c.req.path}</code>. The sandbox may have been reset.</p>
<p><a href="/">Go to the overview</a> or <a href="/transactions">search the transactions</a>.</p>`,
});

/** The address and the three keys, on every page. They are hidden until revealed, since screens are shared. */
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

/** A complete page. `formsTo`: where its forms may lead. `script`: whether it loads the live module. */
export async function page(
  c: Context,
  content: { title: string; body: Markup; status?: 200 | RefusalStatus; formsTo?: string; script?: boolean },
): Promise<Response> {
  return c.html(await documentOf(content), content.status ?? 200, pageHeaders(content));
}

/** Confirms an action on the next page that the reader sees, with and without scripts. */
export const say = (c: Context, text: string): void =>
  c.header('set-cookie', confirmation.say(text, '/'), { append: true });

function takeSaid(c: Context): string {
  const text = confirmation.take(c.req.raw.headers);
  if (text !== '') c.header('set-cookie', confirmation.forget('/'), { append: true });
  return text;
}
