// Loads the order's page again when the order changes, and leaves it alone until then.
const shown = document.querySelector('[data-version]')?.dataset.version;

async function look() {
  try {
    const response = await fetch(`${location.pathname}/version`);
    if (response.ok && (await response.text()) !== shown) return location.reload();
  } catch {
    // The shop is unavailable for a moment, or the page is being left: the next request tells.
  }
  setTimeout(look, 1500);
}

setTimeout(look, 700);
