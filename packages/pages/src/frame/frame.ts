import { html } from 'hono/html';
import type { Markup } from './layout.ts';

/** A page with header, navigation, and one main part. */
export interface FrameContent {
  /** The name of the product in the header, and in sentences, such as "the sandbox". */
  readonly product: string;
  readonly name: string;
  readonly title: string;
  /** The addresses and names of the navigation. */
  readonly sections: readonly (readonly [href: string, label: string])[];
  /** The address of this page's section; none by default. */
  readonly section?: string | undefined;
  readonly body: Markup;
  /** Shown in the header, after the product's name. */
  readonly brand?: Markup | undefined;
  /** Above the heading: notes about unusual states. */
  readonly banners?: Markup | string | undefined;
  /** Next to the heading: a state and buttons. */
  readonly beside?: Markup | string | undefined;
  /** The pages above this one, topmost first. */
  readonly crumbs?: readonly (readonly [href: string, label: string])[] | undefined;
  /** The page with a search, which the key / opens from a page without one; none by default. */
  readonly find?: string | undefined;
  /** The version of the state that the page shows, which the server need not send again; none by default. */
  readonly version?: string | number | undefined;
  /** How often an open page is requested again, in milliseconds; never by default. */
  readonly pollMs?: number | undefined;
  /** What is announced when it changes; nothing by default. */
  readonly says?: string | undefined;
  /** The confirmation or refusal to show on this page, once. */
  readonly said: string;
  readonly isRefused: boolean;
}

export function frame(content: FrameContent): Markup {
  const { product, name, title, sections, section, body, brand = '', banners = '', beside = '' } = content;
  const { crumbs = [], version = '', pollMs, says, said, isRefused, find } = content;
  const above = crumbs.map(([href, label]) => html`<a href="${href}">${label}</a> / `);
  return html`<a class="skip" href="#main">Skip to the content</a>
<header class="top" id="top"><div class="frame">
<div class="brand"><strong>${product}</strong>${brand}<button type="button" id="zone" title="Switch between UTC and local times" hidden><span class="hidden-text">Times: </span><span>UTC</span></button></div>
<nav class="nav" aria-label="Pages"><ul>${sections.map(
    ([href, label]) =>
      html`<li><a href="${href}"${href === section ? html` aria-current="page"` : ''}>${label}</a></li>`,
  )}</ul></nav>
</div></header>
<main class="frame" id="main" tabindex="-1" data-name="${name}" data-version="${version}"${pollMs === undefined ? '' : html` data-poll="${pollMs}"`}${says === undefined ? '' : html` data-says="${says}"`}${find === undefined ? '' : html` data-find="${find}"`}>
${banners}
<div class="stack" id="heading">${crumbs.length === 0 ? '' : html`<nav class="crumbs quiet small" aria-label="Breadcrumb">${above}<span aria-current="page">${title}</span></nav>`}
<div class="head"><h1>${title}</h1>${beside}</div></div>
${body}
</main>
<p class="hidden-text" id="status" role="status"></p>
<div class="toasts" role="status"><p class="note ${isRefused ? 'bad' : 'good'}" id="said">${said}</p><p class="note wait" id="connection"></p></div>`;
}
