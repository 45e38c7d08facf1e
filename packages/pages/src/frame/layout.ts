import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** HTML. hono/html has escaped everything in it. */
export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;

/**
 * The headers of a page: no inline code, nothing from other sites, no framing.
 *
 * @param options.formsTo where its forms may lead.
 * @param options.script whether it loads the live module.
 */
export function pageHeaders(options: { formsTo?: string; script?: boolean } = {}): Record<string, string> {
  const { formsTo = "'self'", script = false } = options;
  const scripts = script ? "; script-src 'self'; connect-src 'self'" : '';
  return {
    'content-security-policy': `default-src 'none'; style-src 'self'; img-src 'self'${scripts}; form-action ${formsTo}; base-uri 'none'; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    // Not `no-referrer`: browsers then send `Origin: null` with our own forms, which the Origin check refuses.
    'referrer-policy': 'same-origin',
  };
}

interface DocumentContent {
  readonly title: string;
  readonly body: Markup;
  /** The path of its assets. */
  readonly base?: string;
  /** Whether it loads the live module. */
  readonly script?: boolean;
  /** Other elements of its head. */
  readonly head?: Markup | string;
}

/** A complete page. */
export function documentOf({ title, body, base = '', script, head = '' }: DocumentContent): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${base}/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}/assets/style.css">
${script ? html`<script type="module" src="${base}/assets/live.js"></script>` : ''}${head}
</head>
<body>
${body}
</body>
</html>`;
}
