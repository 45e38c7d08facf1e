// Times as the reader wants them: in UTC, as the server writes them, or local.
const zone = document.getElementById('zone');
const isLocal = () => localStorage.getItem('times') === 'local';

/** "2026-11-23 17:05:06.123 UTC+03:00" where the reader asked for local times, and the same in UTC otherwise. */
function timeText(iso) {
  const date = new Date(iso);
  const ahead = isLocal() ? -date.getTimezoneOffset() : 0;
  const offset = new Date(Math.abs(ahead) * 60_000).toISOString().slice(11, 16);
  const text = new Date(date.getTime() + ahead * 60_000).toISOString().slice(0, 23).replace('T', ' ');
  return `${text} UTC${isLocal() ? `${ahead < 0 ? '-' : '+'}${offset}` : ''}`;
}

function showTimes() {
  zone.textContent = isLocal() ? 'Times: local' : 'Times: UTC';
  for (const time of document.querySelectorAll('time')) {
    const text = timeText(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
  }
}

zone.addEventListener('click', () => {
  localStorage.setItem('times', isLocal() ? 'UTC' : 'local');
  showTimes();
});
// live.js replaces what main holds.
new MutationObserver(showTimes).observe(document.getElementById('main'), { childList: true });
showTimes();
zone.hidden = false;
