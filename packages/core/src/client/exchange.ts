import { AttemptFailure, isTransientStatus } from './attempt-failure.ts';
import { MOST_BODY_BYTES, readBoundedBody } from './bounded-body.ts';
import { invalid, readServiceMessage } from './envelope.ts';
import { readRetryAfter } from './retry-after.ts';
import { untilAborted } from './until-aborted.ts';

/** What one exchange needs beside its request. */
export interface ExchangeContext {
  readonly send: (request: Request) => Promise<Response>;
  /** The deadline of the whole call. */
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Told as soon as the status is known, for the report of an attempt whose body never ends. */
  readonly onStatus: (status: number) => void;
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/;

/**
 * One request and its answer: resolves with the whole, bounded body of a 200, and fails for everything else.
 *
 * @throws {AttemptFailure}, or `signal.reason` once the signal is aborted.
 */
export async function exchange(request: Request, context: ExchangeContext): Promise<Response> {
  const { signal, onStatus } = context;
  const response = await connect(request, context);
  onStatus(response.status);
  refuseRedirect(request, response);
  if (response.status !== 200) throw await errorAnswer(response, context);
  const bytes = await readBoundedBody(response, signal).catch((error) => {
    if (signal.aborted) throw error;
    throw lost(request, 'broke off in the middle of the answer', error);
  });
  if (bytes === undefined) throw invalid(`the answer is longer than ${MOST_BODY_BYTES} bytes`);
  const type = mediaType(response);
  // A missing type is left to the JSON parser: the specification shows none.
  if (type !== undefined && !JSON_TYPE.test(type)) {
    throw invalid(`the answer is ${named(type)}, not JSON`, undefined, new TextDecoder().decode(bytes));
  }
  return new Response(decode(bytes));
}

async function connect(request: Request, { send, signal }: ExchangeContext): Promise<Response> {
  const pending = send(request);
  try {
    return await untilAborted(pending, signal);
  } catch (error) {
    if (!signal.aborted) throw lost(request, 'failed', error);
    // A fetch that does not listen to its signal may still answer: nobody will read that, and its errors are void.
    void pending.then((late) => late.body?.cancel()).catch(() => undefined);
    throw error;
  }
}

/** A followed redirect would carry the keys to another address. */
function refuseRedirect(request: Request, response: Response): void {
  const { status, type, redirected, headers } = response;
  if (!redirected && type !== 'opaqueredirect' && (status < 300 || status > 399)) return;
  discard(response);
  const location = headers.get('location');
  const target =
    location !== null && URL.canParse(location, request.url) ? new URL(location, request.url) : null;
  const where = target === null || target.host === '' ? '' : ` to ${target.host}`;
  throw new AttemptFailure({
    code: 'api_error',
    what: redirected
      ? 'the fetch that was passed in followed a redirect, although the request has `redirect: "manual"`'
      : `the service answered with a redirect${where}, which is not followed`,
    advice: redirected
      ? 'Make it keep to the request: a redirect carries the keys elsewhere.'
      : 'Set baseUrl to the final address of the service.',
    status,
  });
}

async function errorAnswer(response: Response, { signal, now }: ExchangeContext): Promise<AttemptFailure> {
  const { status, headers } = response;
  let text: string | undefined;
  let cause: unknown;
  try {
    const bytes = await readBoundedBody(response, signal);
    text = bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  } catch (error) {
    if (signal.aborted) throw error;
    // The status has arrived and decides; what broke the body off goes along.
    cause = error;
  }
  const serviceMessage = text === undefined ? undefined : readServiceMessage(text);
  return new AttemptFailure({
    code: 'api_error',
    what: `the service answered ${status}`,
    advice: adviceFor(status),
    status,
    serviceMessage,
    bodyText: text,
    retryAfterMs: readRetryAfter(headers.get('retry-after'), now()),
    cause,
  });
}

function adviceFor(status: number): string {
  if (isTransientStatus(status)) return 'Try again later.';
  if (status === 400) return 'Correct the request.';
  if (status === 401 || status === 403) return 'Check publicKey, and secretKey for balances.';
  if (status === 404) return 'Check baseUrl.';
  return 'The specification does not show this status: see serviceMessage and snippet.';
}

function lost(request: Request, what: string, cause: unknown): AttemptFailure {
  return new AttemptFailure({
    code: 'connection_failed',
    what: `the connection to ${new URL(request.url).host} ${what}`,
    advice: 'Check baseUrl and the network, then try again; cause has the details.',
    cause,
  });
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('the answer is not UTF-8', undefined, new TextDecoder().decode(bytes));
  }
}

function mediaType(response: Response): string | undefined {
  return response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
}

/** A header is text of the service like any other: only a plain media type is cited. */
function named(type: string): string {
  return /^[a-z]{1,20}\/[\w.+-]{1,60}$/.test(type) ? type : 'of another content type';
}

function discard(response: Response): void {
  // Nobody reads this body; whether giving it up fails changes nothing.
  void response.body?.cancel().catch(() => undefined);
}
