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
  /** Whether it is safe to send it again: money is never sent twice. */
  readonly isRepeatable: boolean;
  readonly sendsSecretKey: boolean;
}

/** For what may not be repeated and may have arrived. */
const MAY_HAVE_ARRIVED =
  'It may have been received: do not send it again. Keep it pending until a callback or the service shows what happened.';

const RANKS: readonly Sent[] = ['no', 'refused', 'unknown'];
/** Of several attempts, the one that may have done more decides. */
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

/** A message of the channel `client-call`: one call, with all of its attempts. No address and no query is in it (threat A58). */
export interface ClientCallTrace extends Trace {
  readonly operation: Operation | 'request';
  /** How many requests were sent. */
  attempts: number;
  /** The HTTP status of the last response. */
  status?: number | undefined;
  /** `aborted`: the caller's signal ended it. */
  outcome?: AttemptReport['outcome'];
}

const CALLS = traceChannel<ClientCallTrace>('client-call');

/** Runs a call with settings that also write into the message of the channel. */
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
  const { budget, settings, operation, read, request } = call;
  const { label = operation, isRepeatable = true } = request ?? {};
  const { timing, timeoutMs, scrubber } = settings;
  budget.credit = Math.min(MAX_CREDIT, budget.credit + 1);
  const controller = new AbortController();
  const { signal } = controller;
  const isSuccess = (status: number): boolean => (request ? status >= 200 && status < 300 : status === 200);
  const end = timing.monotonic() + timeoutMs;
  let attempt = 1;
  /** Of the attempts that have ended. */
  let sent: Sent = 'no';
  let status: number | undefined;
  /** Undefined once the attempt is reported, and so between two attempts. */
  let startedAt: number | undefined;
  let previous: PaymentServiceError | undefined;
  let fail = (_reason: unknown): void => {};
  /** The result is complete: nothing takes it back. */
  let isDone = false;

  const report = (outcome: AttemptReport['outcome'], retryInMs?: number): void => {
    // Reported before: the caller aborts in the hook or during a wait.
    if (startedAt === undefined) return;
    const durationMs = timing.monotonic() - startedAt;
    startedAt = undefined;
    const named = request && { request: label };
    settings.onResponse?.({ operation, ...named, attempt, status, durationMs, outcome, retryInMs });
  };
  const stop = (outcome: 'timeout' | 'aborted', reason: unknown): void => {
    if (isDone) return;
    report(outcome);
    controller.abort(reason);
    fail(reason);
  };
  const abort = (): void => {
    const [claim, cause] = [startedAt === undefined ? sent : 'unknown', caller?.reason];
    const advice = claim === 'no' || isRepeatable ? 'It may be repeated.' : MAY_HAVE_ARRIVED;
    const message = `${label}: the signal of the caller ended it. ${advice}`;
    stop('aborted', request ? new AbortedError(message, { sent: claim, cause }) : cause);
  };
  const onTimeout = (): void => {
    const what = `no complete response within timeoutMs (${timeoutMs}), which ended in attempt ${attempt}`;
    const advice = isRepeatable ? 'Try again later, or raise timeoutMs.' : MAY_HAVE_ARRIVED;
    const message = `${label}: ${what}. ${advice}`;
    stop('timeout', new TimeoutError(message, previous && { cause: previous }));
  };
  const attempts = async (): Promise<T> => {
    for (; ; attempt += 1) {
      startedAt = timing.monotonic();
      status = undefined;
      try {
        const response = await exchange(call.url, initOf(call, signal), settings, isSuccess, (received) => {
          status = received;
        });
        const value = await read(response.text, response.status);
        signal.throwIfAborted(); // During a schema that is asynchronous.
        isDone = true;
        report('success');
        return value;
      } catch (error) {
        if (signal.aborted) throw error;
        const failure = error instanceof AttemptFailure ? error : unreadable(error);
        sent = later(sent, failure.details.sent);
        const { waitMs, why } = isRepeatable
          ? planAfter(failure, attempt, end, call)
          : { why: sent === 'unknown' ? MAY_HAVE_ARRIVED : undefined };
        report(failure.details.code, waitMs);
        signal.throwIfAborted();
        if (waitMs === undefined)
          throw failure.toError(label, attempt, sent, scrubber, why ?? missingKey(request, status));
        previous = failure.toError(label, attempt, sent, scrubber, 'A retry was planned.');
        await new Promise<void>((resolve) => {
          signal.onabort = timing.schedule(resolve, waitMs);
        });
      }
    }
  };

  const cancelTimer = timing.schedule(onTimeout, timeoutMs);
  const forget = caller === undefined || caller.aborted ? undefined : onAbort(caller, abort);
  try {
    // Not when the attempts end: fetch may ignore the signal. Own callbacks leave no listeners on it.
    return await new Promise<T>((resolve, reject) => {
      fail = reject;
      if (caller?.aborted) abort();
      else attempts().then(resolve, reject);
    });
  } finally {
    cancelTimer();
    forget?.();
  }
}

/** The protocol does not show how an endpoint answers that needs the secret key, so it is a possibility only. */
function missingKey(request: OwnRequest | undefined, status: number | undefined): string | undefined {
  if (request?.sendsSecretKey !== false || ![400, 401, 403].includes(status ?? 0)) return undefined;
  return 'Check the request, the keys and baseUrl. The secret key was not sent: if the endpoint needs it, pass secretKey: true.';
}

function initOf(
  { headers, request }: Pick<Call<unknown>, 'headers' | 'request'>,
  signal: AbortSignal,
): FetchInit {
  // Frameworks cache GETs behind fetch; only the cache option of this client may. Some runtimes reject the field.
  const noStore = 'cache' in Request.prototype ? ({ cache: 'no-store' } as const) : undefined;
  const { method = 'GET', body } = request ?? {};
  const content = body === undefined ? undefined : { body };
  return { method, headers: { ...headers }, ...content, redirect: 'manual', ...noStore, signal };
}

/**
 * Wait and try again, or stop and say why. Full jitter: anything from 0 to 0.25 s · 2ⁿ, at most 4 s, so that clients
 * which failed together do not return together. `Retry-After` is the shortest wait. If the wait would outlast the
 * deadline, the call fails immediately with the real failure.
 *
 * @param end of the call, on the monotonic clock.
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
      why: `A retry needs ${wait}, and timeoutMs (${timeoutMs}) ends before it. Try again after that.`,
    };
  }
  if (budget.credit < RETRY_COST) {
    return {
      why: 'There is no retry because many recent calls of this client needed one. Try again later.',
    };
  }
  budget.credit -= RETRY_COST;
  return { waitMs };
}

/** An error that the checks did not expect, for example from a fetch that returns no Response. */
function unreadable(cause: unknown): AttemptFailure {
  const advice = 'Check the fetch option; cause has the details.';
  return invalid('the response could not be read', advice, { cause });
}
