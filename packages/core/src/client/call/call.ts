import { PaymentServiceError, TimeoutError } from '../../errors.ts';
import { type Trace, traceChannel } from '../../reporting/trace-channel.ts';
import type { AttemptReport, FetchInit, Operation } from '../client.ts';
import { AttemptFailure, invalid } from '../response/failure.ts';
import type { ClientSettings } from '../settings/settings.ts';
import { exchange } from './exchange.ts';

/** One call of one operation. */
export interface Call<T> {
  readonly settings: ClientSettings;
  /** Shared by all calls of a client. */
  readonly budget: { credit: number };
  readonly operation: Operation;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Checks the body of a 200, or throws an AttemptFailure. */
  readonly read: (text: string) => T;
}

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
  readonly operation: Operation;
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
  const { budget, settings, operation, read } = call;
  const { timing, timeoutMs, scrubber } = settings;
  budget.credit = Math.min(MAX_CREDIT, budget.credit + 1);
  const controller = new AbortController();
  const { signal } = controller;
  const end = timing.monotonic() + timeoutMs;
  let attempt = 1;
  let status: number | undefined;
  /** Undefined once the attempt is reported. */
  let startedAt: number | undefined;
  let previous: PaymentServiceError | undefined;
  let cancelWait = (): void => {};
  let cancelBody = (): void => {};
  let fail = (_reason: unknown): void => {};

  const report = (outcome: AttemptReport['outcome'], retryInMs?: number): void => {
    // Reported before: the caller aborts in the hook or during a wait.
    if (startedAt === undefined) return;
    const durationMs = timing.monotonic() - startedAt;
    startedAt = undefined;
    settings.onResponse?.({ operation, attempt, status, durationMs, outcome, retryInMs });
  };
  const stop = (outcome: 'timeout' | 'aborted', reason: unknown): void => {
    report(outcome);
    controller.abort(reason);
    cancelWait();
    cancelBody(); // Which may ignore the signal.
    fail(reason);
  };
  const onAbort = (): void => stop('aborted', caller?.reason);
  const onTimeout = (): void => {
    const what = `no complete response within timeoutMs (${timeoutMs}), which ended in attempt ${attempt}`;
    const message = `${operation}: ${what}. Try again later, or raise timeoutMs.`;
    stop('timeout', new TimeoutError(message, previous && { cause: previous }));
  };
  const attempts = async (): Promise<T> => {
    for (; ; attempt += 1) {
      startedAt = timing.monotonic();
      status = undefined;
      try {
        const text = await exchange(call.url, initOf(call, signal), settings, (received, cancel) => {
          status = received;
          cancelBody = cancel;
        });
        const value = read(text);
        report('success');
        return value;
      } catch (error) {
        if (signal.aborted) throw error;
        const failure = error instanceof AttemptFailure ? error : unreadable(error);
        const { waitMs, why } = planAfter(failure, attempt, end, call);
        report(failure.details.code, waitMs);
        signal.throwIfAborted();
        if (waitMs === undefined) throw failure.toError(operation, attempt, scrubber, why);
        previous = failure.toError(operation, attempt, scrubber, 'A retry was planned.');
        await new Promise<void>((resolve) => {
          cancelWait = timing.schedule(resolve, waitMs);
        });
      }
    }
  };

  const cancelTimer = timing.schedule(onTimeout, timeoutMs);
  caller?.addEventListener('abort', onAbort, { once: true });
  try {
    // Not when the attempts end: fetch may ignore the signal. Own callbacks leave no listeners on it.
    return await new Promise<T>((resolve, reject) => {
      fail = reject;
      attempts().then(resolve, reject);
    });
  } finally {
    cancelTimer();
    caller?.removeEventListener('abort', onAbort);
  }
}

function initOf({ headers }: Pick<Call<unknown>, 'headers'>, signal: AbortSignal): FetchInit {
  // Frameworks cache GETs behind fetch; only the cache option of this client may. Some runtimes reject the field.
  const noStore = 'cache' in Request.prototype ? ({ cache: 'no-store' } as const) : undefined;
  return { method: 'GET', headers: { ...headers }, redirect: 'manual', ...noStore, signal };
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
