import { AbortedError, PaymentServiceError, type Sent, TimeoutError } from '../../errors.ts';
import { type Trace, traceChannel } from '../../reporting/trace-channel.ts';
import type { AttemptReport, FetchInit, Operation } from '../client.ts';
import { AttemptFailure, invalid } from '../response/failure.ts';
import type { ClientSettings } from '../settings/settings.ts';
import { exchange } from './exchange.ts';
import { onAbort } from './on-abort.ts';

/** One call of one operation. */
export interface Call<T> {
  readonly settings: ClientSettings;
  /** Shared by all calls of a client. */
  readonly budget: { credit: number };
  readonly operation: Operation | 'request';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Checks the body of a success, or throws an AttemptFailure. */
  readonly read: (text: string, status: number) => T | Promise<T>;
  /** Only for `request()`; the three reference calls are GETs. */
  readonly request?: OwnRequest;
}

/** What is different about a call of `request()`. */
export interface OwnRequest {
  /** Method and path as the caller wrote them, in messages and reports. */
  readonly label: string;
  readonly method: string;
  readonly body: string | undefined;
  /** Whether it is safe to send the request again: money is never sent twice. */
  readonly isRepeatable: boolean;
  readonly sendsSecretKey: boolean;
}

/** For a request that must not be repeated and may have arrived. */
const MAY_HAVE_ARRIVED =
  'It may have been received: do not send it again. Keep it pending until a callback or the service shows what happened.';

const RANKS: readonly Sent[] = ['no', 'refused', 'unknown'];
/** The attempt that may have done the most decides. */
const later = (one: Sent, other: Sent): Sent => (RANKS.indexOf(one) > RANKS.indexOf(other) ? one : other);

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 4000;
/**
 * The retry budget keeps a client from multiplying the load on a service that is down: a call earns 1, a retry costs 10.
 * Whatever `maxAttempts` says, retries stay within a tenth of the calls, after a burst of 10.
 */
export const MAX_CREDIT = 100;
const RETRY_COST = 10;

/**
 * Runs a call: attempts and the waits between them, inside one deadline.
 *
 * @throws {PaymentServiceError}, or the reason of the caller's own signal.
 */
export function runCall<T>(call: Call<T>, caller: AbortSignal | undefined): Promise<T> {
  return CALLS.hasSubscribers ? runTraced(call, caller) : runWithin(call, caller);
}

/** A message of the `client-call` channel: one call with all its attempts. It contains no address and no query (threat A58). */
export interface ClientCallTrace extends Trace {
  readonly operation: Operation | 'request';
  /** The number of requests sent. */
  attempts: number;
  /** The HTTP status of the last response. */
  status?: number | undefined;
  /** `aborted`: the caller's signal ended it. */
  outcome?: AttemptReport['outcome'];
}

const CALLS = traceChannel<ClientCallTrace>('client-call');

/** Runs a call with settings that also record the attempts in the channel's message. */
function runTraced<T>(call: Call<T>, caller: AbortSignal | undefined): Promise<T> {
  const { settings, operation } = call;
  const facts: ClientCallTrace = { operation, attempts: 0 };
  const onResponse = (report: AttemptReport): void => {
    facts.attempts = report.attempt;
    facts.status = report.status;
    settings.onResponse?.(report);
  };
  return CALLS.run(facts, async () => {
    try {
      const result = await runWithin({ ...call, settings: { ...settings, onResponse } }, caller);
      facts.outcome = 'success';
      return result;
    } catch (error) {
      facts.outcome = error instanceof PaymentServiceError ? error.code : 'aborted';
      throw error;
    }
  });
}

async function runWithin<T>(call: Call<T>, caller: AbortSignal | undefined): Promise<T> {
  const { budget, settings } = call;
  const { timing, timeoutMs } = settings;
  budget.credit = Math.min(MAX_CREDIT, budget.credit + 1);
  const progress = new Progress(call);
  if (caller?.aborted) throw aborted(progress, caller.reason);
  const controller = new AbortController();
  const end = timing.monotonic() + timeoutMs;
  let stop = (_outcome: 'timeout' | 'aborted', _reason: unknown): void => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = (outcome, reason) => {
      if (progress.isDone) return;
      progress.report(outcome);
      controller.abort(reason);
      reject(reason);
    };
  });
  const cancelTimer = timing.schedule(() => stop('timeout', timedOut(progress)), timeoutMs);
  // onAbort() leaves no listener on the caller's signal.
  const forget = caller && onAbort(caller, () => stop('aborted', aborted(progress, caller.reason)));
  try {
    // Do not wait for the attempts: fetch may ignore the signal.
    return await Promise.race([stopped, runAttempts(progress, controller.signal, end)]);
  } finally {
    cancelTimer();
    forget?.();
  }
}

/** The progress of a call. */
class Progress<T = unknown> {
  readonly call: Call<T>;
  readonly label: string;
  readonly isRepeatable: boolean;
  attempt = 0;
  /** For the attempts that have ended. */
  sent: Sent = 'no';
  /** Of the last response. */
  status: number | undefined;
  previous: PaymentServiceError | undefined;
  /** The result is complete: a timeout or an abort no longer changes it. */
  isDone = false;
  /** Undefined once the attempt is reported, and therefore between two attempts. */
  startedAt: number | undefined;

  constructor(call: Call<T>) {
    this.call = call;
    this.label = call.request?.label ?? call.operation;
    this.isRepeatable = call.request?.isRepeatable ?? true;
  }

  start(): void {
    this.attempt += 1;
    this.status = undefined;
    this.startedAt = this.call.settings.timing.monotonic();
  }

  report(outcome: AttemptReport['outcome'], retryInMs?: number): void {
    const { call, startedAt, attempt, status } = this;
    // Already reported: the caller aborted in the hook or during a wait.
    if (startedAt === undefined) return;
    this.startedAt = undefined;
    const durationMs = call.settings.timing.monotonic() - startedAt;
    const named = call.request && { request: this.label };
    const { operation } = call;
    call.settings.onResponse?.({ operation, ...named, attempt, status, durationMs, outcome, retryInMs });
  }
}

/** Makes attempts, and waits between them, until one succeeds or the last one fails. */
async function runAttempts<T>(progress: Progress<T>, signal: AbortSignal, end: number): Promise<T> {
  const { call, label, isRepeatable } = progress;
  const { scrubber, timing } = call.settings;
  for (;;) {
    progress.start();
    try {
      const value = await attemptOnce(progress, signal);
      signal.throwIfAborted(); // It may have aborted during an asynchronous schema.
      progress.isDone = true;
      progress.report('success');
      return value;
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = error instanceof AttemptFailure ? error : unreadable(error);
      progress.sent = later(progress.sent, failure.details.sent);
      const { attempt, sent, status } = progress;
      const { waitMs, why } = isRepeatable
        ? planAfter(failure, attempt, end, call)
        : { why: sent === 'unknown' ? MAY_HAVE_ARRIVED : undefined };
      progress.report(failure.details.code, waitMs);
      signal.throwIfAborted();
      if (waitMs === undefined)
        throw failure.toError(label, attempt, sent, scrubber, why ?? missingKey(call.request, status));
      progress.previous = failure.toError(label, attempt, sent, scrubber, 'A retry was planned.');
      await new Promise<void>((resolve) => {
        signal.onabort = timing.schedule(resolve, waitMs);
      });
    }
  }
}

async function attemptOnce<T>(progress: Progress<T>, signal: AbortSignal): Promise<T> {
  const { call } = progress;
  const isSuccess = (status: number): boolean =>
    call.request ? status >= 200 && status < 300 : status === 200;
  const onStatus = (status: number): void => {
    progress.status = status;
  };
  const { text, status } = await exchange(call.url, initOf(call, signal), call.settings, isSuccess, onStatus);
  return call.read(text, status);
}

/** The caller's own reason; for `request()`, an error that says whether the request may have arrived. */
function aborted({ call, label, sent, startedAt, isRepeatable }: Progress, cause: unknown): unknown {
  if (call.request === undefined) return cause;
  const claim = startedAt === undefined ? sent : 'unknown';
  const advice = claim === 'no' || isRepeatable ? 'You can repeat it.' : MAY_HAVE_ARRIVED;
  return new AbortedError(`${label}: the caller's signal aborted it. ${advice}`, { sent: claim, cause });
}

function timedOut({ call, label, attempt, previous, isRepeatable }: Progress): TimeoutError {
  const { timeoutMs } = call.settings;
  const what = `no complete response within timeoutMs (${timeoutMs}), which ended in attempt ${attempt}`;
  const advice = isRepeatable ? 'Try again later, or raise timeoutMs.' : MAY_HAVE_ARRIVED;
  return new TimeoutError(`${label}: ${what}. ${advice}`, previous && { cause: previous });
}

/** The protocol does not show how an endpoint that needs the secret key refuses a call without it, so this is only a guess. */
function missingKey(request: OwnRequest | undefined, status: number | undefined): string | undefined {
  if (request?.sendsSecretKey !== false || ![400, 401, 403].includes(status ?? 0)) return undefined;
  return 'Check the request, the keys and baseUrl. The secret key was not sent: if the endpoint needs it, pass secretKey: true.';
}

function initOf(
  { headers, request }: Pick<Call<unknown>, 'headers' | 'request'>,
  signal: AbortSignal,
): FetchInit {
  // Some frameworks cache GETs behind fetch; only this client's cache option may. Some runtimes reject the field.
  const noStore = 'cache' in Request.prototype ? ({ cache: 'no-store' } as const) : undefined;
  const { method = 'GET', body } = request ?? {};
  const content = body === undefined ? undefined : { body };
  return { method, headers: { ...headers }, ...content, redirect: 'manual', ...noStore, signal };
}

/**
 * Decides whether to wait and retry, or to stop and say why. Full jitter: anything from 0 to 0.25 s · 2ⁿ, at most 4 s, so that
 * clients that failed together do not return together. `Retry-After` is the shortest wait. If the wait would outlast the
 * deadline, the call fails immediately with the actual failure.
 *
 * @param end The deadline of the call, on the monotonic clock.
 */
function planAfter(
  failure: AttemptFailure,
  attempt: number,
  end: number,
  { budget, settings: { maxAttempts, timeoutMs, timing } }: Pick<Call<unknown>, 'budget' | 'settings'>,
): { readonly waitMs?: number; readonly why?: string } {
  if (!failure.isTransient || attempt >= maxAttempts) return {};
  const { retryAfterMs = 0 } = failure.details;
  const backoff = timing.random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  const waitMs = Math.max(retryAfterMs, backoff);
  if (waitMs >= end - timing.monotonic()) {
    const wait = `a wait of ${Math.ceil(waitMs / 1000)} s${retryAfterMs > 0 ? ' (Retry-After)' : ''}`;
    return {
      why: `A retry needs ${wait}, but timeoutMs (${timeoutMs}) ends first. Try again after that.`,
    };
  }
  if (budget.credit < RETRY_COST) {
    return {
      why: 'No retry: too many recent calls of this client needed one. Try again later.',
    };
  }
  budget.credit -= RETRY_COST;
  return { waitMs };
}

/** For an error that the checks did not expect, such as from a fetch that returns no Response. */
function unreadable(cause: unknown): AttemptFailure {
  const advice = 'Check the fetch option; see cause for details.';
  return invalid('the response could not be read', advice, { cause });
}
