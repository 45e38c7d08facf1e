import { type PaymentServiceError, TimeoutError } from '../../errors.ts';
import type { AttemptReport, FetchInit, Operation } from '../client.ts';
import { AttemptFailure, invalid } from '../response/failure.ts';
import type { ClientSettings } from '../settings/settings.ts';
import { exchange } from './exchange.ts';
import { CALLS, traceCall } from './trace.ts';

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
  return CALLS.hasSubscribers
    ? traceCall(call, (traced) => runWithin(traced, caller))
    : runWithin(call, caller);
}

async function runWithin<T>(call: Call<T>, caller: AbortSignal | undefined): Promise<T> {
  const { budget, settings } = call;
  const { timing, timeoutMs } = settings;
  budget.credit = Math.min(MAX_CREDIT, budget.credit + 1);
  const run = new CallRun(call);
  const onAbort = (): void => run.stop('aborted', caller?.reason);
  const cancelTimer = timing.schedule(() => run.stop('timeout', run.timeoutError()), timeoutMs);
  caller?.addEventListener('abort', onAbort, { once: true });
  try {
    return await untilAborted(run.attempts(), run.signal);
  } finally {
    cancelTimer();
    caller?.removeEventListener('abort', onAbort);
  }
}

/** The attempts of one call. */
class CallRun<T> {
  readonly #call: Call<T>;
  readonly #controller = new AbortController();
  readonly signal: AbortSignal = this.#controller.signal;
  readonly #end: number;
  #cancelWait: () => void = () => {};
  #attempt = 1;
  /** Undefined once the attempt is reported. */
  #startedAt: number | undefined;
  #status: number | undefined;
  #previous: PaymentServiceError | undefined;

  constructor(call: Call<T>) {
    this.#call = call;
    this.#end = call.settings.timing.monotonic() + call.settings.timeoutMs;
  }

  stop(outcome: 'timeout' | 'aborted', reason: unknown): void {
    this.#report(outcome);
    this.#controller.abort(reason);
    this.#cancelWait();
  }

  timeoutError(): TimeoutError {
    const { operation, settings } = this.#call;
    const what = `no complete response within timeoutMs (${settings.timeoutMs}), which ended in attempt ${this.#attempt}`;
    const options = this.#previous && { cause: this.#previous };
    return new TimeoutError(`${operation}: ${what}. Try again later, or raise timeoutMs.`, options);
  }

  async attempts(): Promise<T> {
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
        if (this.signal.aborted) throw error;
        const failure = error instanceof AttemptFailure ? error : unreadable(error);
        const { waitMs, why } = this.#plan(failure);
        this.#report(failure.details.code, waitMs);
        this.signal.throwIfAborted();
        if (waitMs === undefined) throw failure.toError(operation, this.#attempt, scrubber, why);
        this.#previous = failure.toError(operation, this.#attempt, scrubber, 'A retry was planned.');
        await new Promise<void>((resolve) => {
          this.#cancelWait = timing.schedule(resolve, waitMs);
        });
      }
    }
  }

  #exchange(): Promise<string> {
    const { url, headers, settings } = this.#call;
    // Frameworks cache GETs behind fetch; only the cache option of this client may. Some runtimes reject the field.
    const noStore = 'cache' in Request.prototype ? ({ cache: 'no-store' } as const) : undefined;
    const init: FetchInit = {
      method: 'GET',
      headers: { ...headers },
      redirect: 'manual',
      ...noStore,
      signal: this.signal,
    };
    return exchange(url, init, settings, (status) => {
      this.#status = status;
    });
  }

  #report(outcome: AttemptReport['outcome'], retryInMs?: number): void {
    // Reported before: the caller aborts in the hook or during a wait.
    if (this.#startedAt === undefined) return;
    const { operation, settings } = this.#call;
    const durationMs = settings.timing.monotonic() - this.#startedAt;
    this.#startedAt = undefined;
    const [attempt, status] = [this.#attempt, this.#status];
    settings.onResponse?.({ operation, attempt, status, durationMs, outcome, retryInMs });
  }

  /**
   * Wait and try again, or stop and say why. Full jitter: anything from 0 to 0.25 s · 2ⁿ, at most 4 s, so that clients
   * which failed together do not return together. `Retry-After` is the shortest wait. If the wait would outlast the
   * deadline, the call fails immediately with the real failure.
   */
  #plan(failure: AttemptFailure): { readonly waitMs?: number; readonly why?: string } {
    const { budget, settings } = this.#call;
    const { maxAttempts, timeoutMs, timing } = settings;
    if (!failure.isTransient || this.#attempt >= maxAttempts) return {};
    const { retryAfterMs = 0 } = failure.details;
    const backoff = timing.random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#attempt - 1));
    const waitMs = Math.max(retryAfterMs, backoff);
    if (waitMs >= this.#end - timing.monotonic()) {
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
}

/**
 * Settles as `promise` does, or rejects with `signal.reason` as soon as `signal` aborts, even if the work ignores it.
 * Leaves no listener behind.
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    // The work may have aborted it already.
    if (signal.aborted) onAbort();
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

/** An error that the checks did not expect, for example from a fetch that returns no Response. */
function unreadable(cause: unknown): AttemptFailure {
  const advice = 'Check the fetch option; cause has the details.';
  return invalid('the response could not be read', advice, { cause });
}
