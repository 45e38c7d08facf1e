/*
 * Keeps a page of the sandbox up to date. Pages work without it. It holds no state of its own: it asks the server for the
 * same page again, and changes only what differs.
 */
import { Idiomorph } from '/assets/idiomorph.js';

const RETRY_MS = 2000;
const REFRESH_MS = 30_000;
const TYPING_MS = 150;
const PARTS = ['top', 'main'];
const part = (id) => document.getElementById(id);

const isLocal = () => localStorage.getItem('times') === 'local';

/** "2026-11-23 17:05:06.123 UTC+03:00" where the reader asked for local times, and the same in UTC otherwise. */
function timeText(iso) {
  const date = new Date(iso);
  const ahead = isLocal() ? -date.getTimezoneOffset() : 0;
  const offset = new Date(Math.abs(ahead) * 60_000).toISOString().slice(11, 16);
  const text = new Date(date.getTime() + ahead * 60_000).toISOString().slice(0, 23).replace('T', ' ');
  return `${text} UTC${isLocal() ? `${ahead < 0 ? '-' : '+'}${offset}` : ''}`;
}

/** Times as the reader wants them, and the buttons that only a script can serve. */
function prepare(root) {
  for (const time of root.querySelectorAll('time')) {
    time['age' in time.dataset ? 'title' : 'textContent'] = timeText(time.dateTime);
  }
  for (const button of root.querySelectorAll('[data-copy]')) button.hidden = false;
  const zone = root.getElementById('zone');
  zone.hidden = false;
  zone.textContent = isLocal() ? 'Times: local' : 'Times: UTC';
}

/** A failure of this module itself, for its developer. */
const report = (error) => console.error(error);

/** Whether the reader has changed a control since it was shown. */
function isTouched(control) {
  if (control === document.activeElement && control.matches('input, select, textarea')) return true;
  if (control.matches('input[type=checkbox]')) return control.checked !== control.defaultChecked;
  if (control.matches('input, textarea')) return control.value !== control.defaultValue;
  return (
    control.matches('select') &&
    [...control.options].some((option, index) => {
      const first = [...control.options].findIndex(({ defaultSelected }) => defaultSelected);
      return option.selected !== (index === Math.max(first, 0));
    })
  );
}

const announce = (text) => {
  part('status').textContent = text;
};

let said = part('main').dataset.says;

/** Says what the page is about now, once, and only when it is something else than before. */
function announceChange() {
  const { says } = part('main').dataset;
  if (says !== said) announce(says);
  said = says;
}

/** A list keeps its rows while the reader points at it, works in it or has chosen from it: new rows wait behind a button. */
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

/** Shows another version of this page, and keeps focus, scroll position, open panels and what is typed outside `sent`. */
function show(text, sent, isHeld = false) {
  const next = new DOMParser().parseFromString(text, 'text/html');
  if (isHeld) holdRows(next);
  prepare(next);
  for (const id of PARTS) {
    const [now, then] = [part(id), next.getElementById(id)];
    if (then === null) continue;
    Idiomorph.morph(now, then, {
      callbacks: {
        beforeNodeMorphed: (old) => !(old instanceof Element && isTouched(old) && old.form !== sent),
        beforeAttributeUpdated: (name, node) => !(name === 'open' && node instanceof HTMLDetailsElement),
      },
    });
  }
  document.title = next.title;
}

let loading;
let isStale = false;

/** Asks for this page again; changes that arrive meanwhile cause one more round. */
async function refresh(isHeld = true) {
  isStale = true;
  if (loading !== undefined) return loading;
  loading = (async () => {
    while (isStale) {
      isStale = false;
      const response = await fetch(location.href, { headers: { accept: 'text/html' } });
      show(await response.text(), undefined, isHeld);
      announceChange();
    }
  })();
  try {
    await loading;
  } catch (error) {
    noteLoss(error);
  } finally {
    loading = undefined;
  }
}

let stream;
let retry;

function setConnected(isConnected) {
  part('connection').hidden = isConnected;
}

/** `fetch` throws a TypeError when the connection is lost: the stream is tried again, and then the page. */
function noteLoss(error) {
  if (!(error instanceof TypeError)) throw error;
  setConnected(false);
}

function connect() {
  disconnect();
  stream = new EventSource('/events');
  stream.onmessage = ({ data }) => {
    setConnected(true);
    if (data !== part('main').dataset.version) refresh().catch(report);
  };
  stream.onerror = () => {
    setConnected(false);
    // A refused stream stays closed; a broken one connects again on its own.
    if (stream?.readyState === EventSource.CLOSED) retry = setTimeout(connect, RETRY_MS);
  };
}

function disconnect() {
  clearTimeout(retry);
  stream?.close();
  stream = undefined;
}

/** Sends a form without leaving the page, so that the reader stays where they are. */
async function send(form, submitter) {
  // A second press while a check of an endpoint runs would start another one.
  if (form.ariaBusy === 'true') return;
  const body = new URLSearchParams(new FormData(form, submitter));
  form.ariaBusy = 'true';
  const response = await fetch(form.action, { method: 'POST', body }).finally(() => {
    form.ariaBusy = null;
  });
  const { pathname, search } = new URL(response.url);
  if (response.ok && pathname + search !== location.pathname + location.search) {
    location.assign(response.url);
    return;
  }
  if (response.ok) form.reset();
  const text = await response.text();
  show(text, form);
  part('main').querySelector('[aria-invalid=true]')?.focus();
  announce(part('main').querySelector('.problem')?.textContent ?? 'Done.');
}

async function copy(button) {
  const source = part(button.dataset.copy);
  if (navigator.clipboard === undefined) {
    // Clipboards need https or a loopback address: the reader presses the keys.
    getSelection().selectAllChildren(source);
    return announce('Selected. Copy it with the keyboard.');
  }
  await navigator.clipboard.writeText(source.textContent);
  const label = button.textContent;
  button.textContent = 'Copied';
  announce('Copied.');
  setTimeout(() => {
    button.textContent = label;
  }, RETRY_MS);
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  // Such a button asks for a page; it sends nothing.
  if (event.submitter?.hasAttribute('formaction')) return;
  if (!new URL(form.action).pathname.startsWith('/dashboard/')) return;
  event.preventDefault();
  send(form, event.submitter).catch(noteLoss);
});
// What will be sent is shown while the reader edits it.
let typing;
document.addEventListener('input', ({ target: { form } }) => {
  if (!form?.querySelector('[data-live]')) return;
  clearTimeout(typing);
  typing = setTimeout(() => {
    history.replaceState(null, '', `${location.pathname}?${new URLSearchParams(new FormData(form))}`);
    refresh().catch(report);
  }, TYPING_MS);
});
// What a form offers can follow from one choice, and the server knows how.
document.addEventListener('change', ({ target }) => {
  if (!target.matches('[data-leading]')) return;
  const url = new URL(location.pathname, location.href);
  url.search = new URLSearchParams({ at: target.form.id, [target.name]: target.value });
  history.replaceState(null, '', url);
  refresh().catch(report);
});
document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]');
  if (button !== null) copy(button).catch(report);
  if (event.target.matches('.new-rows')) refresh(false).catch(report);
  if (event.target.id !== 'zone') return;
  localStorage.setItem('times', isLocal() ? 'UTC' : 'local');
  prepare(document);
});
// A hidden tab holds no connection: a browser allows six to one server.
document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : connect()));
addEventListener('pagehide', disconnect);
addEventListener('pageshow', ({ persisted }) => persisted && connect());
// Ages grow although nothing happens.
setInterval(() => stream !== undefined && refresh().catch(report), REFRESH_MS);

prepare(document);
// On a phone the navigation scrolls sideways: the page that is open shows in it.
// Not scrollIntoView(), from which the Tab key would go on.
const here = document.querySelector('.nav [aria-current]');
if (here !== null) here.closest('ul').scrollLeft = here.offsetLeft - here.offsetWidth;
if (!document.hidden) connect();
