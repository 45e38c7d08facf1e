import { type PaymentServiceError, TimeoutError } from '../errors.ts';
import { AttemptFailure } from './attempt-failure.ts';
import type { AttemptReport, FetchInit, Operation } from './client.ts';
import { exchange } from './exchange.ts';
import type { ClientSettings } from './settings.ts';
import { Deadline } from './timing.ts';

/** One call of one operation. */
export interface Call<T> {
  readonly operation: Operation;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Checks the body of a 200, or throws an AttemptFailure. */
  readonly read: (text: string) => T;
}

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 4000;

/** Frameworks cache GETs behind fetch; only the cache option of this client may. Some runtimes reject the field. */
const NO_STORE = 'cache' in Request.prototype ? ({ cache: 'no-store' } as const) : {};

/**
 * Runs a call: attempts and the waits between them, inside one deadline.
 *
 * @throws {PaymentServiceError}, or the reason of the caller's own signal.
 */
export async function runCall<T>(
  call: Call<T>,
  settings: ClientSettings,
  budget: RetryBudget,
  caller: AbortSignal | undefined,
): Promise<T> {
  caller?.throwIfAborted();
  const { operation, url, read } = call;
  const { timeoutMs, maxAttempts, timing, scrubber, onResponse } = settings;
  const deadline = new Deadline(timeoutMs, caller, timing);
  const { signal, aborted } = deadline;
  let previous: PaymentServiceError | undefined;
  let attempt = 1;
  budget.deposit();
  try {
    for (; ; attempt += 1) {
      const started = timing.monotonic();
      let status: number | undefined;
      const onStatus = (known: number): void => {
        status = known;
      };
      const report = (outcome: AttemptReport['outcome'], retryInMs?: number): void => {
        const durationMs = timing.monotonic() - started;
        onResponse?.({ operation, attempt, status, durationMs, outcome, retryInMs });
      };
      try {
        const headers = { ...call.headers };
        const init: FetchInit = { method: 'GET', headers, redirect: 'manual', ...NO_STORE, signal };
        const text = exchange(url, init, { fetch: settings.fetch, now: timing.now, aborted, onStatus });
        // A fetch that was passed in may ignore its signal.
        const value = read(await Promise.race([text, aborted]));
        report('success');
        return value;
      } catch (error) {
        if (signal.aborted) report(deadline.isOver ? 'timeout' : 'aborted');
        if (signal.aborted) throw error;
        const failure = error instanceof AttemptFailure ? error : unexpected(error, status);
        const plan: RetryPlan =
          failure.isTransient && attempt < maxAttempts
            ? planRetry(failure, attempt, timeoutMs, deadline.remainingMs, timing.random, budget)
            : {};
        report(failure.details.code, plan.waitMs);
        if (plan.waitMs === undefined) throw failure.toError(operation, attempt, plan.why, scrubber);
        previous = failure.toError(operation, attempt, 'A retry was planned.', scrubber);
        await deadline.wait(plan.waitMs);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw deadline.isOver ? timeoutError(operation, timeoutMs, attempt, previous) : signal.reason;
  } finally {
    deadline.close();
  }
}

/** An error that the checks did not expect, for example from a fetch that returns no Response. */
function unexpected(cause: unknown, status: number | undefined): AttemptFailure {
  return new AttemptFailure({
    code: 'invalid_response',
    what: 'the response could not be read',
    advice: 'Check the fetch option, if there is one; cause has the details.',
    status,
    cause,
  });
}

function timeoutError(
  operation: Operation,
  timeoutMs: number,
  attempt: number,
  previous: PaymentServiceError | undefined,
): TimeoutError {
  const when = previous === undefined ? '' : ` (attempt ${attempt}; cause is the failure before it)`;
  return new TimeoutError(
    `${operation}: no complete response within timeoutMs (${timeoutMs})${when}. Try again later, or raise timeoutMs.`,
    previous === undefined ? undefined : { cause: previous },
  );
}

/** Wait and try again, or stop and say why. */
interface RetryPlan {
  readonly waitMs?: number;
  readonly why?: string;
}

/**
 * Decides about the next attempt. Full jitter: anything from 0 to 0.25 s · 2ⁿ, at most 4 s, so that clients which
 * failed together do not return together. `Retry-After` is the shortest wait. If the wait would outlast the deadline,
 * the call fails immediately with the real failure.
 */
function planRetry(
  failure: AttemptFailure,
  attempts: number,
  timeoutMs: number,
  remainingMs: number,
  random: () => number,
  budget: RetryBudget,
): RetryPlan {
  const { retryAfterMs = 0 } = failure.details;
  if (retryAfterMs > 0 && retryAfterMs >= remainingMs) {
    const seconds = Math.ceil(retryAfterMs / 1000);
    return {
      why: `It asks for a wait of ${seconds} s (Retry-After), which exceeds timeoutMs (${timeoutMs}). Try again after that.`,
    };
  }
  const backoff = random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1));
  const waitMs = Math.max(retryAfterMs, backoff);
  if (waitMs >= remainingMs) {
    return { why: `timeoutMs (${timeoutMs}) leaves no time for another attempt. Try again later.` };
  }
  if (!budget.take()) {
    return { why: 'There is no retry because many recent calls of this client needed one. Try again later.' };
  }
  return { waitMs };
}

const CAPACITY = 10;
const DEPOSIT_PER_CALL = 0.1;

/**
 * Keeps a client from multiplying the load on a service that is down: retries are paid from a bucket of 10 tokens, and
 * every call puts a tenth of one back. Whatever `maxAttempts` says, retries stay within a tenth of the calls, after a
 * burst of 10.
 */
export class RetryBudget {
  #tokens: number = CAPACITY;

  /** Once per call. */
  deposit(): void {
    this.#tokens = Math.min(CAPACITY, this.#tokens + DEPOSIT_PER_CALL);
  }

  /** Pays for one retry, or returns false. */
  take(): boolean {
    // Ten deposits of 0.1 add up to a little less than 1 in binary.
    if (this.#tokens < 1 - 1e-9) return false;
    this.#tokens -= 1;
    return true;
  }
}
