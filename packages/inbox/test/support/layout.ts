import type { Page } from '@payment-service/servers/browser';

/**
 * Pairs of visible boxes of which neither contains the other, and which cover each other; boxes that stick out of the card or table
 * around them; and cells of a table with a value that are not shown.
 */
const FAULTS = `(() => {
  const parts = 'h1, h2, h3, p, label, input, select, button, summary, legend, th, td, dt, dd, strong, .button, .state, .card, .tile';
  const name = (one) => one.outerHTML.slice(0, 80);
  const boxes = [...document.querySelectorAll('main :is(' + parts + ')')]
    .filter((one) => one.checkVisibility({ contentVisibilityAuto: true }) && !one.closest('.hidden-text, [hidden]'))
    .map((one) => [one, one.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 1 && height > 1);
  const found = [];
  for (const [at, [one, a]] of boxes.entries()) {
    for (const [other, b] of boxes.slice(at + 1)) {
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (width > 1 && height > 1 && !one.contains(other) && !other.contains(one))
        found.push(name(one) + ' covers ' + name(other));
    }
    const around = one.parentElement.closest('table, .card, .note, .tile, main').getBoundingClientRect();
    if (a.left < around.left - 1 || a.right > around.right + 1) found.push(name(one) + ' sticks out');
  }
  for (const cell of document.querySelectorAll('main :is(td:not(:empty), th)')) {
    const isFolded = cell.closest('details:not([open])') !== null;
    const isHeading = cell.matches('th') && innerWidth < 768 && !matchMedia('print').matches;
    if (!isFolded && !isHeading && !cell.checkVisibility()) found.push(name(cell) + ' is lost');
  }
  return found;
})()`;

/** What is covered, sticks out of its place or is lost on the open page, as it is wide now. */
export async function layoutFaults(page: Page): Promise<string[]> {
  return [await page.evaluate(FAULTS)].flat().map(String);
}
