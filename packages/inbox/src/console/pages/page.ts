import {
  type Confirmation,
  confirmationIn,
  documentOf,
  type Filled,
  type FrameContent,
  frame,
  html,
  pageHeaders,
} from '@payment-service/pages';
import type { AnyInbox } from '../../inbox.ts';
import type { ConsoleAccess, ConsolePermission, FormProof } from '../access.ts';

/** The inputs of every page. */
export interface View {
  readonly inbox: AnyInbox;
  readonly basePath: string;
  /** Whose days the forms mean. */
  readonly timeZone: string;
  readonly access: ConsoleAccess;
  readonly proof: FormProof;
  /** Below the base path. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The confirmation to show on this page, once. */
  readonly said: string;
  readonly version: string;
}

/** Why an action was refused, and what its form held. */
export interface Refused {
  readonly filled: Filled;
  readonly status: 404 | 409 | 422;
}

interface Content
  extends Pick<FrameContent, 'title' | 'body' | 'beside' | 'banners' | 'crumbs' | 'says' | 'section'> {
  /** The page does not follow the inbox. */
  readonly isStill?: boolean;
  readonly status?: 200 | 403 | 404;
  /** The action of a form was refused. */
  readonly refused?: Refused | undefined;
}

const PRODUCT = 'Payment inbox';
const POLL_MS = 2000;
const SECTIONS: readonly (readonly [path: string, label: string])[] = [
  ['/', 'Overview'],
  ['/payments', 'Payments'],
  ['/money', 'Money'],
  ['/reconcile', 'Statement'],
];

/** An address of the console. */
export const at = ({ basePath }: Pick<View, 'basePath'>, path: string): string =>
  path === '/' ? basePath || '/' : `${basePath}${path}`;

export async function consolePage(view: View, content: Content): Promise<Response> {
  const { basePath, said, version, access, proof } = view;
  const { title, status = 200, section, refused, crumbs = [], isStill } = content;
  const headers = headersOf('text/html', true);
  headers.set('cross-origin-opener-policy', 'same-origin');
  if (proof.setCookie !== undefined) headers.append('set-cookie', proof.setCookie);
  if (said !== '') headers.append('set-cookie', confirmation.forget(basePath));
  const link = ([path, label]: readonly [string, string]) => [at(view, path), label] as const;
  const body = frame({
    ...content,
    product: PRODUCT,
    name: 'the console',
    sections: SECTIONS.filter(([path]) => path !== '/reconcile' || access.may.includes('reconcile')).map(
      link,
    ),
    section: section && at(view, section),
    brand: html`<span class="quiet small">${access.by}</span>`,
    crumbs: crumbs.map(link),
    find: at(view, '/payment'),
    version,
    pollMs: isStill ? undefined : POLL_MS,
    said: refused === undefined ? said : refusalText(refused),
    isRefused: refused !== undefined,
  });
  const text = await documentOf({ title: `${title} · ${PRODUCT}`, body, base: basePath, script: true });
  return new Response(String(text), { status: refused?.status ?? status, headers });
}

/** A wrong field has its own words. What else was refused may concern a form that the page no longer has. */
function refusalText({ filled: { problem } }: Refused): string {
  const why = problem?.field === undefined ? (problem?.text ?? '') : '';
  return `Refused. Nothing was changed. ${why}`.trim();
}

function headersOf(type: 'text/html' | 'text/plain', script: boolean): Headers {
  const headers = { ...pageHeaders({ script }), 'x-frame-options': 'DENY' };
  return new Headers({ ...headers, 'content-type': `${type}; charset=utf-8` });
}

export const missingPage = (view: View): Promise<Response> =>
  consolePage(view, {
    status: 404,
    title: 'Nothing here',
    body: html`<p>This account's inbox has nothing at this address.</p>
<p><a href="${at(view, '/')}">Go to the overview</a> or <a href="${at(view, '/payments')}">search the payments</a>.</p>`,
  });

/** For a page that the visitor may not see. */
export const forbiddenPage = (view: View, permission: ConsolePermission): Promise<Response> =>
  consolePage(view, {
    status: 403,
    title: 'Not permitted',
    body: html`<p>This page needs the permission <code>${permission}</code>, which ${view.access.by} does not have. The owner of this program grants it in <code>authorize()</code>.</p>
<p><a href="${at(view, '/')}">Go to the overview</a>.</p>`,
  });

const PLAIN = {
  400: 'This form is malformed. Open the page again, and submit it there.',
  403: 'You have no access to this page, or the form is from another page. Sign in, open the page again, and submit it there.',
  405: 'This method is not allowed here.',
  413: 'This form is too large.',
  500: "The console cannot read the inbox now. Try again in a minute; the program's log says what is wrong.",
} as const;

/** For a request that is no page. */
export function forbidden(permission: ConsolePermission): Response {
  const text = `This needs the permission "${permission}". The owner of this program grants it in authorize().\n`;
  return new Response(text, { status: 403, headers: headersOf('text/plain', false) });
}

/** A constant response. */
export function plainResponse(status: keyof typeof PLAIN): Response {
  return new Response(`${PLAIN[status]}\n`, { status, headers: headersOf('text/plain', false) });
}

export const confirmation: Confirmation = confirmationIn('inbox-console-said');

/** Confirms an action on the next page that the visitor sees. */
export const seeOther = (location: string, said: string, path: string): Response =>
  new Response(null, {
    status: 303,
    headers: { location, 'set-cookie': confirmation.say(said, path), 'cache-control': 'no-store' },
  });
