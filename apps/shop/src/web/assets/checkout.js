// While the customer types, the shop says what each provider can accept, and selects one by the account's prefix.
const form = document.querySelector('form[action="/checkout"]');
let asked = new AbortController();
let timer;

async function ask() {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  // In a body: an address would put the account into logs.
  const body = new URLSearchParams(new FormData(form));
  try {
    const response = await fetch('/checkout/providers', { method: 'POST', body, signal });
    if (!response.ok) throw new Error(`The shop answered ${response.status}.`);
    show(new DOMParser().parseFromString(await response.text(), 'text/html'));
  } catch {
    // A newer question replaced this one, or the shop cannot answer: then it decides when the form is sent.
    if (!signal.aborted)
      say('Which payments the providers accept is not known at the moment. It is checked when you pay.');
  }
}

function show(fresh) {
  const focused = document.activeElement?.name === 'provider' ? document.activeElement.value : undefined;
  for (const id of ['total', 'choice']) document.getElementById(id).replaceWith(fresh.getElementById(id));
  if (focused !== undefined) form.querySelector(`[name="provider"][value="${CSS.escape(focused)}"]`)?.focus();
  say(fresh.getElementById('said').textContent);
}

// Only a new sentence: a screen reader reads every change.
function say(sentence) {
  const said = document.getElementById('said');
  if (said.textContent !== sentence) said.textContent = sentence;
}

form.addEventListener('submit', () => {
  clearTimeout(timer);
  asked.abort();
});

form.addEventListener('input', ({ target }) => {
  clearTimeout(timer);
  if (target.name === 'provider') {
    // A choice by hand is kept: no earlier answer replaces it, whatever account is typed afterwards.
    form.elements.byPrefix.value = '';
    void ask();
  } else timer = setTimeout(ask, 150);
});

// A checkout that the browser kept alive may be of an order that is paid by now: the shop knows.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
