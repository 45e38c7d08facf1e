import type { Sent } from '../../errors.ts';
import { readStream } from '../../read-stream.ts';
import { isObject } from '../../verify/json-members.ts';
import type { FetchInit } from '../client.ts';
import { CHECK_ADDRESS, readServiceMessage } from '../response/envelope.ts';
import { AttemptFailure, invalid, TRANSIENT } from '../response/failure.ts';
import type { ClientSettings } from '../settings/settings.ts';
import { type HandOver, isUnsent, watched } from './hand-over.ts';

/** Far above any real response. Counted after decompression: 200 KB of gzip can hold 200 MB. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Sends one request and reads the response. Resolves with the status and the complete, bounded body of a success; rejects for
 * everything else.
 *
 * @param isSuccess Whether a status is a success.
 * @param onStatus Receives the status before the body is read.
 * @throws {AttemptFailure}, or any error once the signal has aborted.
 */
export async function exchange(
  url: string,
  init: FetchInit,
  { fetch, timing, refusedStatuses }: ClientSettings,
  isSuccess: (status: number) => boolean,
  onStatus: (status: number) => void,
): Promise<{ readonly status: number; readonly text: string }> {
  let response: Response;
  const handOver: HandOver = { requests: 0, isWritten: false };
  try {
    response = await watched(handOver, async () => fetch(url, init));
  } catch (cause) {
    throw lost(url, 'failed', cause, isUnsent(handOver, cause) ? 'no' : 'unknown');
  }
  // A fetch that ignores its signal can resolve after the call has ended; its body must not stay open.
  if (init.signal.aborted) void response.body?.cancel().catch(() => undefined);
  init.signal.throwIfAborted();
  const { status, headers } = response;
  const reader = response.body?.getReader();
  // The outcome is already known; a failing cancel adds nothing to it.
  const cancel = (): void => void reader?.cancel().catch(() => undefined);
  onStatus(status);
  init.signal.onabort = cancel; // A body may ignore the signal.
  const redirect = redirectFailure(url, response);
  if (redirect !== undefined) {
    cancel();
    throw redirect;
  }
  let bytes: Uint8Array | undefined;
  let cause: unknown;
  try {
    bytes = reader === undefined ? new Uint8Array() : await readStream(reader, MAX_RESPONSE_BYTES);
  } catch (error) {
    if (isSuccess(status)) throw lost(url, 'broke during the response', error, 'unknown');
    // The status has arrived and decides.
    cause = error;
  }
  init.signal.throwIfAborted();
  if (bytes === undefined) cancel();
  if (!isSuccess(status)) {
    const bodyText = bytes && lenientText(bytes);
    throw new AttemptFailure({
      code: 'api_error',
      what: `the service answered ${status}`,
      advice: TRANSIENT.has(status) ? 'Try again later.' : 'Check the request, the keys and baseUrl.',
      status,
      sent: refusedStatuses.includes(status) ? 'refused' : 'unknown',
      serviceMessage: bodyText === undefined ? undefined : readServiceMessage(bodyText),
      bodyText,
      retryAfterMs: readRetryAfter(headers.get('retry-after'), timing.now()),
      cause,
    });
  }
  if (bytes === undefined) {
    throw invalid(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`, CHECK_ADDRESS, { status });
  }
  // The content type is ignored: the protocol shows none, so the body must parse as JSON.
  try {
    return { status, text: utf8.decode(bytes) };
  } catch {
    throw invalid('the response is not UTF-8', CHECK_ADDRESS, { status, bodyText: lenientText(bytes) });
  }
}

/** Following a redirect would send the keys to another address. */
function redirectFailure(url: string, response: Response): AttemptFailure | undefined {
  const { status, type, redirected, headers } = response;
  if (!redirected && type !== 'opaqueredirect' && (status < 300 || status > 399)) return undefined;
  const location = headers.get('location');
  const host = location !== null && URL.canParse(location, url) ? new URL(location, url).host : '';
  const what = `the service answered with a redirect${host && ` to ${host}`}; following it would send the keys there`;
  const advice = 'Set baseUrl to the final address. A fetch option must honour `redirect: "manual"`.';
  return new AttemptFailure({ code: 'api_error', what, advice, status, sent: 'unknown' });
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3): seconds, or a date in the one format that a sender may use. `Date.parse` alone would
 * read "-5" and "1.5" as dates.
 *
 * @returns Milliseconds from `now`, at least 0; undefined if the value is missing or unreadable.
 */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function lost(url: string, how: string, cause: unknown, sent: Sent): AttemptFailure {
  const deepest = deepestOf(cause);
  const why = isObject(deepest) && typeof deepest['message'] === 'string' ? ` (${deepest['message']})` : '';
  const what = `the connection to ${new URL(url).host} ${how}${why}`;
  const advice =
    isObject(deepest) && deepest['code'] === MISMATCH
      ? 'The dispatcher and fetch are probably from different undici versions: pass fetch from the same package.'
      : 'Check baseUrl, the network and any proxy, then try again; see cause for details.';
  return new AttemptFailure({ code: 'connection_failed', what, advice, cause, sent });
}

/** The error code when fetch and a dispatcher come from two major versions of undici. */
const MISMATCH = 'UND_ERR_INVALID_ARG';

/** The root cause, below the error that fetch throws: `fetch failed` alone says nothing. */
function deepestOf(thrown: unknown, depth = MAX_CAUSES): unknown {
  if (!isObject(thrown) || depth === 0 || !isObject(thrown['cause'])) return thrown;
  return deepestOf(thrown['cause'], depth - 1);
}

const MAX_CAUSES = 5;

function lenientText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
