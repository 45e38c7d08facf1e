/*
 * Keeps a page up to date. Pages work without it. It asks for the same page again, shows what differs, and waits while
 * the reader is in the middle of something.
 */
const POLL_MS = 1500;
let every = POLL_MS;
const main = document.getElementById('main');
const status = document.getElementById('live');
let shown = main.innerHTML;

/** Whether the reader has changed a control since it was shown. */
const isTouched = (control) =>
  control.matches('[type=checkbox], [type=radio]')
    ? control.checked !== control.defaultChecked
    : control.value !== control.defaultValue;

/** A new version would take focus, typed text and open panels away. */
const isBusy = () =>
  main.contains(document.activeElement) ||
  main.querySelector('details[open]') !== null ||
  [...main.querySelectorAll('input:not([type=hidden]), textarea')].some(isTouched);

/** Shows the newest version of the page; returns what to say about it. */
async function update() {
  const response = await fetch(location.href);
  // The answer to a refused form has no address of its own.
  if (!response.ok) return '';
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  every = Number(next.getElementById('main').dataset.every ?? POLL_MS);
  const newest = next.getElementById('main').innerHTML;
  if (newest === shown) return '';
  if (isBusy()) return 'This page has changed. Reload it when you are done.';
  shown = newest;
  main.innerHTML = newest;
  document.title = next.title;
  return `Updated: ${next.title}`;
}

let timer;
async function look() {
  clearTimeout(timer);
  // A hidden tab asks for nothing; visibilitychange comes when it is shown again.
  if (document.hidden) return;
  try {
    status.textContent = await update();
  } catch (error) {
    // fetch throws a TypeError when no answer comes.
    if (!(error instanceof TypeError)) throw error;
    status.textContent = 'Connection lost. Trying again…';
  } finally {
    timer = setTimeout(look, every);
  }
}

document.addEventListener('visibilitychange', look);
timer = setTimeout(look, POLL_MS / 2);
