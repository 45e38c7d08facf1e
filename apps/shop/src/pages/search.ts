import { html } from 'hono/html';
import type { Markup } from './page.ts';

/** Links to the states of a list, all of them first. */
export function stateLinks(
  path: string,
  states: readonly (readonly [state: string, name: string])[],
  all: string,
  current: string | undefined,
): Markup {
  const link = (state: string | undefined, name: string): Markup => {
    const query = state === undefined ? '' : `?${new URLSearchParams({ state }).toString()}`;
    return html`<a href="${path}${query}"${state === current ? html` aria-current="page"` : ''}>${name}</a> `;
  };
  return html`<nav aria-label="States" class="states">
${link(undefined, all)}
${states.map(([state, name]) => link(state, name))}
</nav>`;
}

/** Looks for a reference, in one state where that is chosen. */
export function searchForm(path: string, reference: string | undefined, state?: string): Markup {
  return html`<form action="${path}" class="search" role="search">
${state === undefined ? '' : html`<input type="hidden" name="state" value="${state}">`}
<div class="field"><label for="reference">Reference of the order</label>
<input id="reference" name="reference" type="search" value="${reference ?? ''}" autocomplete="off" autocapitalize="off" spellcheck="false"></div>
<button class="button" type="submit">Search</button>
</form>`;
}
