import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';

/** A string behind a summary, with a button that copies it if scripts run. */
export const copyable = (id: string, label: string, text: string): Markup =>
  html`<details id="${id}"><summary>${label}</summary>
<div class="stack"><pre class="wire" id="${id}-text">${text}</pre>
<div class="actions">${copyButton(`${id}-text`, html`Copy<span class="hidden-text"> ${id.replaceAll('-', ' ')}</span>`)}</div></div></details>`;

/** Copies the content of another element. The live module shows it; without scripts it would do nothing. */
export const copyButton = (of: string, label: string | Markup, id: string = `${of}-copy`): Markup =>
  html`<button type="button" id="${id}" data-copy="${of}" hidden>${label}</button>`;
