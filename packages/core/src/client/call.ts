import { type PaymentServiceError, TimeoutError } from '../errors.ts';
import type { AttemptReport, FetchInit, Operation } from './client.ts';
import { exchange } from './exchange.ts';
import { AttemptFailure } from './failure.ts';
import type { ClientSettings } from './settings.ts';

/** One call of one operation. */
export interface Call<T> {
  readonly settings: ClientSettings;
  readonly budget: RetryBudget;
  readonly operation: Operation;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Checks the body of a 200, or throws an AttemptFailure. */
  readonly read: (text: string) => T;
}

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 4000;

/**
 * Runs a call: attempts and the waits between them, inside one deadline.
 *
 * @throws {PaymentServiceError}, or the reason of the caller's own signal.
 */
export async function runCall<T>(call: Call<T>, caller: AbortSignal | undefined): Promise<T> {
  call.budget.deposit();
  const { timing, timeoutMs } = call.settings;
  const run = new CallRun(call);
  const onAbort = (): void => run.stop('aborted', caller?.reason);
  const cancelTimer = timing.schedule(() => run.stop('timeout', run.timeoutError()), timeoutMs);
  caller?.addEventListener('abort', onAbort, { once: true });
  try {
    return await run.outcome;
  } finally {
    cancelTimer();
    caller?.removeEventListener('abort', onAbort);
  }
}

/** The attempts of one call. */
class CallRun<T> {
  readonly outcome: Promise<T>;
  readonly #call: Call<T>;
  readonly #controller = new AbortController();
  readonly #end: number;
  #reject: (reason: unknown) => void = () => {};
  /** Cancels a body or a wait. A body may ignore the signal. */
  #release: () => void = () => {};
  #attempt = 1;
  #startedAt = 0;
  #status: number | undefined;
  #previous: PaymentServiceError | undefined;

  constructor(call: Call<T>) {
    this.#call = call;
    this.#end = call.settings.timing.monotonic() + call.settings.timeoutMs;
    this.outcome = new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#attempts().then(resolve, reject);
    });
  }

  /** Settles `outcome` immediately, even if `fetch` ignores its signal. */
  stop(outcome: 'timeout' | 'aborted', reason: unknown): void {
    this.#report(outcome);
    this.#reject(reason);
    this.#controller.abort(reason);
    this.#release();
  }

  timeoutError(): TimeoutError {
    const { operation, settings } = this.#call;
    const when = this.#previous && ` (attempt ${this.#attempt}; cause is the failure before it)`;
    const what = `no complete response within timeoutMs (${settings.timeoutMs})${when ?? ''}`;
    const options = this.#previous && { cause: this.#previous };
    return new TimeoutError(`${operation}: ${what}. Try again later, or raise timeoutMs.`, options);
  }

  async #attempts(): Promise<T> {
    const { operation, read, settings } = this.#call;
    const { scrubber, timing } = settings;
    for (; ; this.#attempt += 1) {
      this.#startedAt = timing.monotonic();
      this.#status = undefined;
      try {
        const value = read(await this.#exchange());
        this.#report('success');
        return value;
      } catch (error) {
        if (this.#controller.signal.aborted) throw error;
        const failure = error instanceof AttemptFailure ? error : unreadable(error);
        const { waitMs, why } = this.#plan(failure);
        this.#report(failure.details.code, waitMs);
        if (waitMs === undefined) throw failure.toError(operation, this.#attempt, scrubber, why);
        this.#previous = failure.toError(operation, this.#attempt, scrubber, 'A retry was planned.');
        await new Promise<void>((resolve) => {
          this.#release = timing.schedule(resolve, waitMs);
        });
      }
    }
  }

  #exchange(): Promise<string> {
    const { url, headers, settings } = this.#call;
    const { signal } = this.#controller;
    // Frameworks cache GETs behind fetch; only the cache option of this client may. Some runtimes reject the field.
    const noStore = 'cache' in Request.prototype ? ({ cache: 'no-store' } as const) : undefined;
    const init: FetchInit = {
      method: 'GET',
      headers: { ...headers },
      redirect: 'manual',
      ...noStore,
      signal,
    };
    const onResponse = (status: number, cancel: () => void): void => {
      this.#status = status;
      this.#release = cancel;
    };
    return exchange(url, init, settings, onResponse);
  }

  #report(outcome: AttemptReport['outcome'], retryInMs?: number): void {
    const { operation, settings } = this.#call;
    const durationMs = settings.timing.monotonic() - this.#startedAt;
    settings.onResponse?.({
      operation,
      attempt: this.#attempt,
      status: this.#status,
      durationMs,
      outcome,
      retryInMs,
    });
  }

  /**
   * Wait and try again, or stop and say why. Full jitter: anything from 0 to 0.25 s · 2ⁿ, at most 4 s, so that clients
   * which failed together do not return together. `Retry-After` is the shortest wait. If the wait would outlast the
   * deadline, the call fails immediately with the real failure.
   */
  #plan(failure: AttemptFailure): { readonly waitMs?: number; readonly why?: string } {
    const { maxAttempts, timeoutMs, timing } = this.#call.settings;
    if (!failure.isTransient || this.#attempt >= maxAttempts) return {};
    const { retryAfterMs = 0 } = failure.details;
    const backoff = timing.random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#attempt - 1));
    const waitMs = Math.max(retryAfterMs, backoff);
    const remainingMs = this.#end - timing.monotonic();
    if (retryAfterMs > 0 && retryAfterMs >= remainingMs) {
      const asked = `It asks for a wait of ${Math.ceil(retryAfterMs / 1000)} s (Retry-After)`;
      return { why: `${asked}, which exceeds timeoutMs (${timeoutMs}). Try again after that.` };
    }
    if (waitMs >= remainingMs) {
      return { why: `timeoutMs (${timeoutMs}) leaves no time for another attempt. Try again later.` };
    }
    if (this.#call.budget.take()) return { waitMs };
    return { why: 'There is no retry because many recent calls of this client needed one. Try again later.' };
  }
}

/** An error that the checks did not expect, for example from a fetch that returns no Response. */
function unreadable(cause: unknown): AttemptFailure {
  const [what, advice] = ['the response could not be read', 'Check the fetch option; cause has the details.'];
  return new AttemptFailure({ code: 'invalid_response', what, advice, cause });
}

const CAPACITY = 100;
const RETRY_COST = 10;

/**
 * Keeps a client from multiplying the load on a service that is down: a call deposits 1, a retry costs 10, and the
 * budget holds at most 100. At any `maxAttempts`, retries stay within a tenth of the calls, after a burst of 10.
 */
export class RetryBudget {
  #balance: number = CAPACITY;

  /** Once per call. */
  deposit(): void {
    this.#balance = Math.min(CAPACITY, this.#balance + 1);
  }

  /** Pays for one retry, or returns false. */
  take(): boolean {
    if (this.#balance < RETRY_COST) return false;
    this.#balance -= RETRY_COST;
    return true;
  }
}
