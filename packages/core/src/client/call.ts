import { type PaymentServiceError, TimeoutError } from '../errors.ts';
import { AttemptFailure, unreadable } from './attempt-failure.ts';
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
  const { timeoutMs, timing, scrubber, onResponse } = settings;
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
        const text = exchange(url, init, settings, aborted, onStatus);
        // A fetch that was passed in may ignore its signal.
        const value = read(await Promise.race([text, aborted]));
        report('success');
        return value;
      } catch (error) {
        if (signal.aborted) report(deadline.isOver ? 'timeout' : 'aborted');
        if (signal.aborted) throw error;
        const failure = error instanceof AttemptFailure ? error : unreadable(error);
        const plan = planRetry(failure, attempt, settings, deadline.remainingMs, budget);
        report(failure.details.code, plan.waitMs);
        if (plan.waitMs === undefined) throw failure.toError(operation, attempt, scrubber, plan.why);
        previous = failure.toError(operation, attempt, scrubber, 'A retry was planned.');
        await deadline.wait(plan.waitMs);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    if (!deadline.isOver) throw signal.reason;
    const when = previous === undefined ? '' : ` (attempt ${attempt}; cause is the failure before it)`;
    const what = `no complete response within timeoutMs (${timeoutMs})${when}`;
    const options = previous === undefined ? {} : { cause: previous };
    throw new TimeoutError(`${operation}: ${what}. Try again later, or raise timeoutMs.`, options);
  } finally {
    deadline.close();
  }
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
  attempt: number,
  { maxAttempts, timeoutMs, timing }: ClientSettings,
  remainingMs: number,
  budget: RetryBudget,
): RetryPlan {
  if (!failure.isTransient || attempt >= maxAttempts) return {};
  const { retryAfterMs = 0 } = failure.details;
  const backoff = timing.random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  const waitMs = Math.max(retryAfterMs, backoff);
  if (retryAfterMs > 0 && retryAfterMs >= remainingMs) {
    const asked = `It asks for a wait of ${Math.ceil(retryAfterMs / 1000)} s (Retry-After)`;
    return { why: `${asked}, which exceeds timeoutMs (${timeoutMs}). Try again after that.` };
  }
  if (waitMs >= remainingMs) {
    return { why: `timeoutMs (${timeoutMs}) leaves no time for another attempt. Try again later.` };
  }
  if (budget.take()) return { waitMs };
  return { why: 'There is no retry because many recent calls of this client needed one. Try again later.' };
}

const CAPACITY = 10;
const DEPOSIT_PER_CALL = 0.1;

/**
 * Keeps a client from multiplying the load on a service that is down: retries are paid from an allowance of 10, and
 * every call adds a tenth of one to it. Whatever `maxAttempts` says, retries stay within a tenth of the calls, after a
 * burst of 10.
 */
export class RetryBudget {
  #allowance: number = CAPACITY;

  /** Once per call. */
  deposit(): void {
    this.#allowance = Math.min(CAPACITY, this.#allowance + DEPOSIT_PER_CALL);
  }

  /** Pays for one retry, or returns false. */
  take(): boolean {
    // Ten deposits of 0.1 add up to a little less than 1 in binary.
    if (this.#allowance < 1 - 1e-9) return false;
    this.#allowance -= 1;
    return true;
  }
}
