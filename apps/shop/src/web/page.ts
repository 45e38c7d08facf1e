import { documentOf, type FrameContent, frame, html, type Markup, pageHeaders } from '@payment-service/pages';

/** A response of the shop, independent of the framework. */
export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
}

interface PageContent extends Partial<Pick<FrameContent, 'beside' | 'section' | 'pollMs'>> {
  readonly title: string;
  /** The heading, if it differs from the title. */
  readonly heading?: string;
  readonly main: Markup;
  readonly status?: number;
  /** Where the page's form may lead besides the shop: browsers apply form-action to the redirect that follows. */
  readonly formsTo?: string;
  /** What this page loads besides, or how it is reloaded without scripts. */
  readonly head?: Markup | undefined;
}

export const PRODUCT = 'Hillside Market';
const OF_CUSTOMERS = [['/', 'Shop']] as const;
const OF_OWNER = [...OF_CUSTOMERS, ['/owner/orders', 'Orders'], ['/owner/inbox', 'Inbox']] as const;

export async function page(content: PageContent): Promise<Page> {
  const { title, heading = title, main, status = 200, formsTo, head = '', ...rest } = content;
  const fullTitle = `${title} · ${PRODUCT}`;
  const body = await documentOf({
    title: fullTitle,
    script: rest.pollMs !== undefined,
    head: html`<link rel="stylesheet" href="/assets/shop.css">${head}`,
    body: frame({
      ...rest,
      product: PRODUCT,
      brand: html`<img src="/assets/icon.svg" alt="" width="28" height="28">`,
      name: 'the shop',
      title: heading,
      sections: rest.section?.startsWith('/owner') ? OF_OWNER : OF_CUSTOMERS,
      body: html`${main}<footer class="quiet small">A sample shop. Payments are simulated by the sandbox: no money moves. <a href="/owner/orders">For its owner</a></footer>`,
      says: fullTitle,
      said: '',
      isRefused: false,
    }),
  });
  return { status, headers: headers(formsTo), body: String(body) };
}

/** Redirects the browser to a path of the shop or to the payment page. The address that it leaves may contain a signature. */
export function seeOther(location: string, cookies: readonly string[] = []): Page {
  const own = { 'set-cookie': [...cookies], location, 'referrer-policy': 'no-referrer' };
  return { status: 303, headers: { ...headers(), ...own }, body: '' };
}

export function headers(formsTo = ''): Record<string, string> {
  return {
    ...pageHeaders({ formsTo: `'self' ${formsTo}`.trim(), script: true }),
    'content-type': 'text/html; charset=utf-8',
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
  };
}

export type Log = (line: string) => void;

/** For the log, with the stack if there is one. */
export const errorText = (error: unknown): string => String(Object(error).stack ?? error);

/**
 * For an error that a framework met outside the shop's routes: its own 4xx (a body over the limit, a path that cannot be
 * decoded), or 500, which is our fault and logged.
 */
export function errorPage(error: unknown, log: Log): Promise<Page> {
  const { statusCode, status = statusCode } = Object(error);
  if (status >= 400 && status < 500) return problemPage(status);
  log(errorText(error));
  return problemPage(500);
}

/** A page with one message and links to continue, the first one as a button. */
export function messagePage(
  status: number,
  title: string,
  text: string,
  links: readonly (readonly [address: string, name: string])[] = [['/', 'Back to the shop']],
): Promise<Page> {
  const main = html`<p>${text}</p>
${links.map(([address, name], index) => html`<p><a${index === 0 ? html` class="button main"` : ''} href="${address}">${name}</a></p>`)}`;
  return page({ status, title, main });
}

const PROBLEMS: Readonly<Record<number, readonly [title: string, text: string]>> = {
  403: [
    'Form from another site',
    'Another site sent this form, so nothing was done. Open the page in the shop and submit the form there.',
  ],
  404: ['Not found', 'There is no page at this address.'],
  413: ['Form too large', 'The form is larger than this shop accepts.'],
  500: [
    'Something went wrong',
    'The error is in the shop, and its owner can see it in the log. If you paid, the payment is not lost.',
  ],
};

/** The pages that a framework needs when it rejects a request itself. */
export function problemPage(status: number): Promise<Page> {
  const [title, text] = PROBLEMS[status] ?? ['That did not work', 'The shop could not read this request.'];
  return messagePage(status, title, text);
}
