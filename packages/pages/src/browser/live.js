/*
 * Keeps a page up to date. Pages work without it. It has no state of its own: it requests the same page again and changes only
 * what differs.
 */
import { Idiomorph } from './idiomorph.js';

/** Ages change even when nothing happens. */
const REFRESH_MS = 30_000;
/** How long after the last keystroke the preview of an edit is updated. */
const TYPING_MS = 150;
/** The minimum time between announcements: a screen reader must read them out. */
const QUIET_MS = 5000;
const SHOWN_MS = 10_000;
const SEND_MS = 15_000;
/** A test of an endpoint may take 5 seconds for each of its cases. */
const CHECK_MS = 150_000;
const LOST = 'Connection lost. Trying again…';
const PARTS = ['top', 'main'];
const part = (id) => document.getElementById(id);
const parse = (text) => new DOMParser().parseFromString(text, 'text/html');

const isLocal = () => localStorage.getItem('times') === 'local';

/** "2026-11-23 17:05:06 UTC+03:00" where the reader asked for local times, and the same in UTC otherwise. */
function timeText(iso) {
  const date = new Date(iso);
  const ahead = isLocal() ? -date.getTimezoneOffset() : 0;
  const offset = new Date(Math.abs(ahead) * 60_000).toISOString().slice(11, 16);
  const text = new Date(date.getTime() + ahead * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  return `${text} UTC${isLocal() ? `${ahead < 0 ? '-' : '+'}${offset}` : ''}`;
}

/** Shows times in the chosen zone, and the buttons that need a script. */
function prepare(root) {
  for (const time of root.querySelectorAll('time')) {
    time['age' in time.dataset ? 'title' : 'textContent'] = timeText(time.dateTime);
  }
  for (const button of root.querySelectorAll('[data-copy]')) button.hidden = false;
  const zone = root.getElementById('zone');
  zone.hidden = false;
  zone.lastElementChild.textContent = isLocal() ? 'local' : 'UTC';
}

/** Reports a failure of this module to its developer. */
const report = (error) => console.error(error);

/** Whether the reader has changed a control since it was shown. */
function isTouched(control) {
  if (control === document.activeElement && control.matches('input, select, textarea')) return true;
  if (control.matches('input[type=checkbox]')) return control.checked !== control.defaultChecked;
  if (control.matches('input, textarea')) return control.value !== control.defaultValue;
  if (!control.matches('select')) return false;
  const first = [...control.options].findIndex(({ defaultSelected }) => defaultSelected);
  return control.selectedIndex !== Math.max(first, 0);
}

/** Hidden fields say which state of the page a form was made for, so they stay with what the reader has begun to fill in. */
function isKept(node, sent) {
  if (!(node instanceof Element) || node.form === sent) return false;
  return isTouched(node) || (node.matches('input[type=hidden]') && [...node.form.elements].some(isTouched));
}

let fading;

/** Confirms an action, or says why it was refused, which stays visible. Both are shown and announced. */
function tell(tone, text) {
  clearTimeout(fading);
  if (tone === 'good') fading = setTimeout(tell, SHOWN_MS, 'neutral', '');
  part('said').className = `note ${tone}`;
  part('said').textContent = text;
}

let announced = 0;
let waiting;

/** Announces the summary of the page. The newest announcement replaces a waiting one. */
function announce(text) {
  clearTimeout(waiting);
  const rest = announced + QUIET_MS - Date.now();
  if (rest > 0) {
    waiting = setTimeout(announce, rest, text);
    return;
  }
  announced = Date.now();
  part('status').textContent = text;
}

let said = part('main').dataset.says;

/** Announces the summary of the page once, and only if it has changed. */
function announceChange() {
  const { says } = part('main').dataset;
  if (says !== said) announce(says);
  said = says;
}

/** A list keeps its rows while the reader points at it, works in it or has selected rows: new rows wait behind a button. */
function holdRows(next) {
  for (const list of document.querySelectorAll('table.list:is(:hover, :focus-within, :has(:checked))')) {
    const then = next.getElementById(list.id);
    if (then === null) continue;
    const rows = new Map([...then.tBodies[0].rows].map((row) => [row.id, row]));
    const added = [...rows.keys()].filter((id) => part(id) === null && !id.endsWith('-below'));
    const kept = [...list.tBodies[0].rows].map(({ id }) => rows.get(id) ?? part(id).cloneNode(true));
    then.tBodies[0].replaceChildren(...kept);
    if (added.length === 0) continue;
    const button = next.createElement('button');
    Object.assign(button, { id: `${list.id}-new`, type: 'button', className: 'new-rows' });
    button.textContent = `${added.length} new`;
    then.before(button);
  }
}

/** Shows a new version of this page, and keeps focus, scroll position, open panels and input outside `sent`. */
function show(next, sent) {
  prepare(next);
  for (const id of PARTS) {
    const [now, then] = [part(id), next.getElementById(id)];
    if (then === null) continue;
    Idiomorph.morph(now, then, {
      callbacks: {
        beforeNodeMorphed: (old) => !isKept(old, sent),
        beforeAttributeUpdated: (name, node) => !(name === 'open' && node instanceof HTMLDetailsElement),
      },
    });
  }
  document.title = next.title;
}

let loading;
let isStale = false;
let isHeld = true;
/** When the whole page was last requested. */
let refreshed = Date.now();

/** Requests this page again, and shows it; calls meanwhile cause one more request. */
function refresh() {
  refreshed = 0;
  return follow();
}

/** The same, but the server may answer that the version of the page has not changed. */
async function follow() {
  isStale = true;
  if (document.hidden) return;
  if (loading !== undefined) return loading;
  loading = (async () => {
    while (isStale) {
      isStale = false;
      // A confirmation belongs to the page that the reader goes to, not to this one.
      const headers = { accept: 'text/html', 'x-refresh': '1' };
      if (Date.now() - refreshed > REFRESH_MS) refreshed = Date.now();
      else headers['if-none-match'] = `"${part('main').dataset.version}"`;
      const response = await fetch(location.href, { headers, signal: AbortSignal.timeout(SEND_MS) });
      if (response.status !== 304) {
        const next = parse(await response.text());
        if (isHeld) holdRows(next);
        show(next);
        isHeld = true;
        announceChange();
      }
      setConnection('');
    }
  })();
  try {
    await loading;
  } catch (error) {
    // `fetch` throws a TypeError when the connection is lost.
    if (!(error instanceof TypeError || error.name === 'TimeoutError')) throw error;
    refreshed = 0;
    setConnection(LOST);
  } finally {
    loading = undefined;
  }
}

/** Empty while the server answers. */
function setConnection(text) {
  if (part('connection').textContent !== text) part('connection').textContent = text;
}

function poll() {
  follow()
    .catch(report)
    // A response with another page, such as an error page, does not contain it.
    .finally(() => setTimeout(poll, Number(part('main').dataset.poll ?? REFRESH_MS)));
}

/** Sends a form without leaving the page, so that the reader keeps the scroll position and the input. */
async function send(form, submitter) {
  // A second press while a test of an endpoint is running would start another one.
  if (form.ariaBusy === 'true') return;
  const fields = new FormData(form, submitter);
  const body = form.enctype === 'multipart/form-data' ? fields : new URLSearchParams(fields);
  const signal = AbortSignal.timeout(form.id === 'check' ? CHECK_MS : SEND_MS);
  form.ariaBusy = 'true';
  tell('neutral', 'Sending…');
  let response;
  let next;
  try {
    response = await fetch(form.action, { method: 'POST', body, signal });
    next = parse(await response.text());
  } catch {
    const { name } = part('main').dataset;
    const kept = `Your input is kept. Check it, and submit it again when ${name} is available.`;
    return tell('bad', `Not saved: ${name} does not answer. ${kept}`);
  } finally {
    form.ariaBusy = null;
  }
  const { pathname, search } = new URL(response.url);
  const confirmed = next.getElementById('said');
  if (confirmed === null)
    return tell('bad', `Not saved: ${part('main').dataset.name} answered HTTP ${response.status}.`);
  if (response.ok && pathname + search !== location.pathname + location.search) {
    sessionStorage.setItem('said', confirmed.textContent);
    location.assign(response.url);
    return;
  }
  if (response.ok) form.reset();
  show(next, form);
  tell(response.ok ? 'good' : 'bad', confirmed.textContent);
  part('main').querySelector('[aria-invalid=true]')?.focus();
}

async function copy(button) {
  const source = part(button.dataset.copy);
  if (navigator.clipboard === undefined) {
    // Clipboards need https or a loopback address: otherwise the reader presses the keys.
    getSelection().selectAllChildren(source);
    return tell('wait', 'Selected. Copy it with the keyboard.');
  }
  await navigator.clipboard.writeText(source.textContent);
  tell('good', 'Copied.');
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  // Such a button requests another page, or a file: the browser sends it.
  if (event.submitter?.hasAttribute('formaction')) return;
  if (form.method !== 'post' || new URL(form.action).origin !== location.origin) return;
  event.preventDefault();
  send(form, event.submitter).catch(report);
});
// Updates the preview while the reader edits.
let typing;
document.addEventListener('input', ({ target: { form } }) => {
  if (!form?.querySelector('[data-live]')) return;
  clearTimeout(typing);
  typing = setTimeout(() => {
    history.replaceState(null, '', `${location.pathname}?${new URLSearchParams(new FormData(form))}`);
    refresh().catch(report);
  }, TYPING_MS);
});
// The choices of a form can depend on one choice, which the server evaluates.
document.addEventListener('change', ({ target }) => {
  if (!target.matches('[data-leading]')) return;
  const url = new URL(location.pathname, location.href);
  url.search = new URLSearchParams({ at: target.form.id, [target.name]: target.value });
  history.replaceState(null, '', url);
  refresh().catch(report);
});
document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-copy]');
  if (button !== null) copy(button).catch(report);
  if (target.matches('.new-rows')) {
    isHeld = false;
    refresh().catch(report);
  }
  if (target.closest('#zone') === null) return;
  localStorage.setItem('times', isLocal() ? 'UTC' : 'local');
  prepare(document);
});
/** `/` leads to the search, as on most sites with one. */
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, select, textarea')) return;
  const field = document.querySelector('input[type=search]');
  const { find } = part('main').dataset;
  if (field === null && find === undefined) return;
  event.preventDefault();
  if (field === null) location.assign(find);
  else field.focus();
});
// A hidden tab sends no requests, and catches up when it is shown again.
document.addEventListener('visibilitychange', () => {
  if (isStale) follow().catch(report);
});

prepare(document);
const kept = sessionStorage.getItem('said');
sessionStorage.removeItem('said');
if (kept !== null || part('said').matches('.good')) tell('good', kept ?? part('said').textContent);
// On a phone the navigation scrolls sideways: makes the current page visible in it. Not scrollIntoView(), which would move the
// start of the Tab key.
const here = document.querySelector('.nav [aria-current]');
if (here !== null) here.closest('ul').scrollLeft = here.offsetLeft - here.offsetWidth;
// A page without it is requested only once, such as a comparison.
if (part('main').dataset.poll !== undefined) setTimeout(poll, Number(part('main').dataset.poll));
