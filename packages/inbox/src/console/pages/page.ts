import { documentOf, frame, type Markup, pageHeaders } from '@payment-service/pages';
import { html } from 'hono/html';
import type { Inbox } from '../../inbox.ts';
import type { ConsoleAccess, FormProof } from '../access.ts';
import { forgetSaid } from '../said.ts';

/** The functions of an inbox that the console uses. */
export type ConsoleInbox = Omit<Inbox<never>, 'expect' | 'handle' | 'transaction'>;

/** The inputs of every page. */
export interface View {
  readonly inbox: ConsoleInbox;
  readonly basePath: string;
  readonly access: ConsoleAccess;
  readonly proof: FormProof;
  /** Below the base path. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The confirmation to show on this page, once. */
  readonly said: string;
  readonly version: string;
}

interface Content {
  readonly title: string;
  readonly section?: '/' | '/transitions' | '/overdue' | '/reconcile';
  /** The page is not loaded again when the inbox changes. */
  readonly isStill?: boolean;
  readonly body: Markup;
  readonly beside?: Markup | string;
  readonly banners?: Markup | string;
  readonly crumbs?: readonly (readonly [href: string, label: string])[];
  readonly status?: number;
  /** Why an action was refused. */
  readonly refused?: string | undefined;
  /** What a screen reader announces when it changes. */
  readonly says?: string;
}

const PRODUCT = 'Payment inbox';
const SECTIONS = [
  ['/', 'Overview'],
  ['/transitions', 'Transitions'],
  ['/overdue', 'Overdue'],
  ['/reconcile', 'Reconcile'],
] as const;

/** An address of the console. */
export const at = ({ basePath }: Pick<View, 'basePath'>, path: string): string =>
  path === '/' ? basePath || '/' : `${basePath}${path}`;

export async function consolePage(view: View, content: Content): Promise<Response> {
  const { basePath, said, version, access, proof } = view;
  const { title, status = 200, section, refused, crumbs = [] } = content;
  const headers = new Headers({
    ...pageHeaders({ script: true }),
    'content-type': 'text/html; charset=utf-8',
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
  });
  if (proof.setCookie !== undefined) headers.append('set-cookie', proof.setCookie);
  if (said !== '') headers.append('set-cookie', forgetSaid(basePath));
  const body = frame({
    ...content,
    product: PRODUCT,
    name: 'the console',
    sections: SECTIONS.filter(([path]) => path !== '/reconcile' || access.may.includes('reconcile')).map(
      ([path, label]) => [at(view, path), label],
    ),
    section: section && at(view, section),
    brand: html`<span class="quiet small">${access.by}</span>`,
    crumbs: crumbs.map(([path, label]) => [at(view, path), label]),
    version: content.isStill ? '' : version,
    said: refused ?? said,
    isRefused: refused !== undefined,
  });
  const text = await documentOf({ title: `${title} · ${PRODUCT}`, body, base: basePath, script: true });
  return new Response(String(text), { status, headers });
}

export const missingPage = (view: View): Promise<Response> =>
  consolePage(view, {
    status: 404,
    title: 'Nothing here',
    body: html`<p>This account's inbox has nothing at this address.</p>
<p><a href="${at(view, '/')}">Go to the overview</a> or <a href="${at(view, '/transitions')}">search the transitions</a>.</p>`,
  });

const PLAIN = {
  403: 'You have no access to this page, or the form is from another page. Sign in, open the page again, and submit it there.',
  405: 'This method is not allowed here.',
  413: 'This form is too large.',
  500: 'The console cannot read the inbox now. Try again in a minute; the log of the program says what is wrong.',
  503: 'Too many pages are open.',
} as const;

/** A constant response. */
export function plainResponse(status: keyof typeof PLAIN): Response {
  return new Response(`${PLAIN[status]}\n`, {
    status,
    headers: { ...pageHeaders(), 'content-type': 'text/plain; charset=utf-8', 'x-frame-options': 'DENY' },
  });
}
