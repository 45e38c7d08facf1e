import type { Context } from 'hono';
import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { RefusalStatus } from '../service/refusal.ts';

export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;

const style = `
:root { color-scheme: light dark; --line: #8885; --quiet: color-mix(in srgb, currentColor 72%, transparent); --accent: #0b63ce; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 70rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } .grid { align-items: start; }
.quiet { color: var(--quiet); font-size: .9rem; } .problem { border-left: 4px solid #c33; padding-left: .75rem; }
.card { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; margin: .75rem 0; }
.grid { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
@media (max-width: 40rem) {
.stacked tr { display: grid; grid-template-columns: 1fr 1fr; border-bottom: 1px solid var(--line); padding: .35rem 0; }
.stacked tr:first-child { display: none; } .stacked td { border: 0; padding: 0 .6rem 0 0; } .stacked td:first-child { grid-column: 1 / -1; font-weight: 600; }
.stacked td.number { display: flex; justify-content: space-between; } .stacked td.number::before { content: attr(data-label); color: var(--quiet); }
}
label { display: block; margin: .5rem 0; } input, select { font: inherit; width: 100%; padding: .45rem; }
input[type=checkbox] { width: auto; }
button { font: inherit; padding: .6rem 1.1rem; border: 0; border-radius: .4rem; background: var(--accent); color: #fff; }
button.other { background: #666; } summary { cursor: pointer; font-weight: 600; } .actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1rem; }
code { font-size: .9em; } dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; } dd { margin: 0; }
`;

/** A whole page. Everything that is put into it was escaped by hono/html. */
export async function page(
  c: Context,
  content: { title: string; body: Markup; status?: 200 | RefusalStatus; formsTo?: string },
): Promise<Response> {
  const nonce = crypto.randomUUID();
  const { title, body, status = 200, formsTo = "'self'" } = content;
  c.header(
    'content-security-policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; form-action ${formsTo}; base-uri 'none'; frame-ancestors 'none'`,
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
<style nonce="${nonce}">${style}</style>
</head>
<body>
${body}
</body>
</html>`;
  return c.html(text, status);
}
