import { html } from 'hono/html';
import type { HeaderPair } from '../../state/records.ts';
import type { Markup } from './layout.ts';

/** A text behind a summary, with a button that copies it where scripts run. */
export const copyable = (id: string, label: string, text: string): Markup =>
  html`<details id="${id}"><summary>${label}</summary>
<div class="stack"><pre class="wire" id="${id}-text">${text}</pre>
<div class="actions">${copyButton(`${id}-text`, 'Copy')}</div></div></details>`;

/** Copies the text of another element. The live module shows it; without scripts it would do nothing. */
export const copyButton = (of: string, label: string): Markup =>
  html`<button type="button" id="${of}-copy" data-copy="${of}" hidden>${label}</button>`;

/** One callback, to be sent again by hand. */
interface Sent {
  readonly url: string;
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A client makes these itself. */
const FRAMING = ['host', 'connection', 'content-length'];
const ownHeaders = (headers: readonly HeaderPair[]): HeaderPair[] =>
  headers.filter(([name]) => !FRAMING.includes(name.toLowerCase()));

export const asCurl = ({ url, headers, body }: Sent): string =>
  [
    `curl -i ${quoted(url)}`,
    ...ownHeaders(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ');

export const asFixture = ({ url, headers, body }: Sent): string =>
  JSON.stringify({ method: 'POST', url, headers: Object.fromEntries(headers), body }, null, 2);

/** `expected`: the status that a receiver answers which verifies. */
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
