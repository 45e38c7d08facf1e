/** The default theme, with this site's style. A link to something in a closed part of a page opens that part. */

import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { nextTick } from 'vue';
import './style.css';

/** The target of the address, if parts of the page were closed around it: they are open now. */
function revealed(): HTMLElement | undefined {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  let closed = target?.closest<HTMLDetailsElement>('details:not([open])');
  if (target === null || !closed) return;
  for (; closed; closed = closed.closest<HTMLDetailsElement>('details:not([open])')) closed.open = true;
  return target;
}

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (import.meta.env.SSR) return;
    // VitePress sends this event before it scrolls within a page.
    window.addEventListener('hashchange', revealed);
    // VitePress scrolls in the first frame of a new page.
    router.onAfterRouteChange = () =>
      void nextTick(() => requestAnimationFrame(() => revealed()?.scrollIntoView()));
  },
};
export default theme;
