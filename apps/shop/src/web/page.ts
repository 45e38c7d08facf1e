import { html } from 'hono/html';

/** Escaped markup: everything interpolated into hono/html's template is text unless it is markup itself. */
export type Markup = ReturnType<typeof html>;

/** An answer of the shop, in terms that every framework shares. */
export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
}

interface PageContent {
  readonly title: string;
  /** How much needs attention: it stands before the title where it is not 0. */
  readonly count?: number | undefined;
  readonly main: Markup;
  /** The path of the navigation entry that this page belongs to. */
  readonly section?: '/' | '/owner/orders' | '/owner/wallets' | undefined;
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where the page's form may lead besides the shop: browsers hold form-action against the redirect that follows. */
  readonly formsTo?: string | undefined;
  /**
   * Keeps the page up to date with a script. Without scripts the page reloads every 3 seconds, unless it changes rarely.
   * Pages of the owner do not reload.
   */
  readonly watch?: 'often' | 'rarely' | undefined;
  /** A module of assets/ that this page loads. */
  readonly script?: '/checkout.js' | undefined;
}

const SECTIONS = [
  ['/', 'Shop'],
  ['/owner/orders', 'Orders'],
  ['/owner/inbox', 'Inbox'],
  ['/owner/wallets', 'Wallets'],
] as const;

/**
 * An order's address opens its page: it goes to no other site. Not 'no-referrer', which would take the origin out of the
 * shop's own forms as well, see same-site.ts.
 */
const OWN_REFERRER = { 'referrer-policy': 'same-origin' };

export async function page(content: PageContent): Promise<Page> {
  const {
    title,
    count = 0,
    main,
    section,
    status = 200,
    headers = {},
    formsTo = '',
    watch,
    script,
  } = content;
  // A page that reloads would take away what its owner types.
  const isOwners = section?.startsWith('/owner/');
  const isLive = watch !== undefined || isOwners;
  const body = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${count === 0 ? '' : `(${count}) `}${title} · Hillside Market</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/shop.css">
<link rel="stylesheet" href="/form.css">
<link rel="stylesheet" href="/inbox.css">
${isLive ? html`<script type="module" src="/live.js"></script>` : ''}${isOwners ? html`<script type="module" src="/times.js"></script>` : ''}${watch === 'often' ? html`<noscript><meta http-equiv="refresh" content="3"></noscript>` : ''}${script === undefined ? '' : html`<script type="module" src="${script}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="/"><img src="/icon.svg" alt="" width="28" height="28"> Hillside Market</a>
<nav aria-label="Main">
${SECTIONS.map(([path, name]) => html`<a href="${path}"${path === section ? html` aria-current="page"` : ''}>${name}</a> `)}
${isOwners ? html`<button type="button" id="zone" hidden>Times: UTC</button>` : ''}
</nav>
</header>
<main id="main"${watch === 'rarely' ? html` data-every="15000"` : ''}>
${main}
</main>
${isLive ? html`<p class="live" id="live" role="status"></p>` : ''}
<footer>A sample shop. Payments are simulated by the sandbox: no money moves.</footer>
</body>
</html>`;
  return { status, headers: { ...pageHeaders(formsTo), ...OWN_REFERRER, ...headers }, body: String(body) };
}

/** A part of a page, for the page's own script. */
export async function fragment(content: Markup): Promise<Page> {
  return { status: 200, headers: pageHeaders(), body: String(await content) };
}

/** Sends the browser on, to a path of the shop or to the payment page. */
export function seeOther(location: string, cookies: readonly string[] = []): Page {
  return { status: 303, headers: { ...pageHeaders(), 'set-cookie': [...cookies], location }, body: '' };
}

/** For a monitor. */
export function json(status: number, value: unknown): Page {
  return {
    status,
    headers: { ...pageHeaders(), 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

function pageHeaders(formsTo = ''): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
      `form-action ${`'self' ${formsTo}`.trim()}; base-uri 'none'; frame-ancestors 'none'`,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
}
