import type { SignedFields } from '@payment-service/core';
import { bodyText, count, html, type Markup, span, utc } from '@payment-service/pages';
import type { Message } from '../../deliveries/delivery-attempt.ts';
import type { SandboxAccount } from '../../state/account.ts';
import type { BodyStart, HeaderPair, Signing } from '../../state/records.ts';

/** The first line and the headers of a message, in the order and spelling of the wire. */
export const head = (firstLine: string, headers: readonly HeaderPair[]): Markup =>
  html`<pre class="wire"><b>${firstLine}</b>${headers.map(
    ([name, value]) => html`
<span class="quiet">${name}:</span> ${value}`,
  )}</pre>`;

/** A body that may be truncated. */
export const bodyStart = ({ body, bytes, is_cut }: BodyStart): Markup =>
  html`${bodyText(body)}${is_cut && html`<p class="quiet small">Cut: this is the start${bytes === null ? '' : ` of ${count(bytes)} bytes`}.</p>`}`;

/** The signed string, field by field, and what is known about `t`, which is not signed. */
export function signatureParts(
  { signed, signature, key }: { signed: SignedFields; signature: string; key: Signing['key'] },
  sentAt: number,
  { signingKey }: SandboxAccount,
): Markup {
  const t = /(?:^|,)t=([^,]*)/.exec(signature)?.[1] ?? '';
  return html`<h3>Signed string</h3>
<ol class="signature">${Object.entries(signed).map(
    ([name, value], index) =>
      html`<li><small>${name}</small><div class="mono">${index > 0 ? html`<b>:</b>` : ''}<mark>${value}</mark></div></li>`,
  )}</ol>
<p class="quiet small">Everything else is not signed: the amount, the currency, the customer and <code>t</code>.</p>
<dl class="facts"><dt>Signature</dt><dd><code>${signature}</code></dd>
<dt>Key</dt><dd>${key === 'account' ? `The account's signing key, …${signingKey.slice(-4)}` : 'Another key, on purpose'}</dd>
<dt><code>t</code></dt><dd><code>${t}</code> <span class="quiet">${aboutTime(t, sentAt)}</span></dd></dl>`;
}

function aboutTime(t: string, sentAt: number): string {
  // The verifier, too, reads 1e11 or more as milliseconds.
  const inSeconds = Number(t) < 1e11;
  const ms = Number(t) * (inSeconds ? 1000 : 1);
  const early = ms - sentAt;
  const isSame = Math.abs(early) < 1000;
  const when = isSame ? 'when it was sent' : `${span(early)} ${early < 0 ? 'before' : 'after'} it was sent`;
  if (/^\d{1,15}$/.test(t)) return `${inSeconds ? 'seconds' : 'milliseconds'}, ${utc(ms)}, ${when}`;
  return 'is not a number of seconds or milliseconds';
}

/** One request, to be resent by hand. */
type Sent = Omit<Message, 'method'>;

/** Headers whose values are not shown, and the variables that hold them. */
type Secrets = Readonly<Record<string, string>>;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Every client adds these itself. */
const FRAMING = ['host', 'connection', 'content-length'];
const ownHeaders = (headers: readonly HeaderPair[]): HeaderPair[] =>
  headers.filter(([name]) => !FRAMING.includes(name.toLowerCase()));

/** The same request for a shell: curl neither expands the address nor adds a header of its own. */
export function asCurl(
  { method = 'POST', url, headers, body }: Sent & { readonly method?: string },
  secrets: Secrets = {},
): string {
  const own = ownHeaders(headers);
  const named = (name: string): boolean => own.some(([one]) => one.toLowerCase() === name);
  return [
    `curl -i -g -X ${method} ${quoted(new URL(url).href)}`,
    ...own.map(([name, value]) =>
      secrets[name] === undefined ? `-H ${quoted(`${name}: ${value}`)}` : `-H "${name}: $${secrets[name]}"`,
    ),
    ...['accept', 'user-agent', ...(body === '' ? [] : ['content-type'])]
      .filter((name) => !named(name))
      .map((name) => `-H '${name}:'`),
    ...(body === '' ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ');
}

export const asFixture = ({ url, headers, body }: Sent): string =>
  JSON.stringify({ method: 'POST', url, headers: Object.fromEntries(headers), body }, null, 2);

/** `expected`: the status of a receiver that verifies. */
export const asTest = ({ url, headers, body }: Sent, name: string, expected: number): string =>
  [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    '',
    `test(${JSON.stringify(name)}, async () => {`,
    `  const response = await fetch(${JSON.stringify(url)}, {`,
    "    method: 'POST',",
    `    headers: ${JSON.stringify(Object.fromEntries(ownHeaders(headers)), null, 2).replaceAll('\n', '\n    ')},`,
    `    body: ${JSON.stringify(body)},`,
    '  });',
    `  assert.equal(response.status, ${expected});`,
    '});',
    '',
  ].join('\n');
