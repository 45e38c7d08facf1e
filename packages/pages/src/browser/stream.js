/*
 * A shared worker: it owns the only stream of all tabs, because a browser allows six connections to one server. It sends every
 * tab the version of the state; an empty one means that the connection is lost.
 */
const RETRY_MS = 2000;
const BEAT_MS = 3000;
/** The folder of this file: the pages of another product on the same server have a different channel. */
const folder = new URL('.', location.href).pathname;
const tabs = new BroadcastChannel(`versions of ${folder}`);
let version = '';
let stream;

function tell(now) {
  version = now;
  tabs.postMessage(version);
}

function connect() {
  stream = new EventSource(`${folder}../events`);
  stream.onmessage = ({ data }) => tell(data);
  stream.onerror = () => {
    tell('');
    // A refused stream stays closed; a broken one connects again on its own.
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, RETRY_MS);
  };
}

connect();
// A tab that was just opened, or one that checks whether the stream still works.
globalThis.onconnect = () => version !== '' && tell(version);
setInterval(() => stream.readyState === EventSource.OPEN && tell(version), BEAT_MS);
