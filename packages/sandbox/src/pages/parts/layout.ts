import type { Context } from 'hono';
import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { RefusalStatus } from '../../service/refusal.ts';

/** HTML. Everything that is put into it was escaped by hono/html. */
export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;

/** A whole page. `formsTo`: where its forms may lead. `script`: whether it loads the live module. */
export async function page(
  c: Context,
  content: { title: string; body: Markup; status?: 200 | RefusalStatus; formsTo?: string; script?: boolean },
): Promise<Response> {
  const { title, body, status = 200, formsTo = "'self'", script = false } = content;
  const scripts = script ? "; script-src 'self'; connect-src 'self'" : '';
  c.header(
    'content-security-policy',
    `default-src 'none'; style-src 'self'; img-src 'self'${scripts}; form-action ${formsTo}; base-uri 'none'; frame-ancestors 'none'`,
  );
  c.header('x-content-type-options', 'nosniff');
  c.header('cache-control', 'no-store');
  // Not `no-referrer`: browsers then send `Origin: null` with our own forms, which the Origin check refuses.
  c.header('referrer-policy', 'same-origin');
  const text = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
${script ? html`<script type="module" src="/assets/live.js"></script>` : ''}
</head>
<body>
${body}
</body>
</html>`;
  return c.html(text, status);
}
