import { type PaymentServiceError, TimeoutError } from '../errors.ts';
import { AttemptFailure } from './attempt-failure.ts';
import type { AttemptReport, Operation } from './client-options.ts';
import type { ClientSettings } from './client-settings.ts';
import { type Deadline, openDeadline } from './deadline.ts';
import { exchange } from './exchange.ts';
import type { RetryBudget } from './retry-budget.ts';
import { planRetry } from './retry-plan.ts';
import { wait } from './wait.ts';

/** What every request of a call has in common, for openapi-fetch. */
export interface RequestInitOfCall {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly signal: AbortSignal;
  readonly parseAs: 'text';
}

/** One call of one operation. */
export interface OperationCall<T> {
  readonly operation: Operation;
  /** Sends one request. Only a 200 comes back; everything else is thrown by the `fetch` it is given. */
  readonly request: (init: RequestInitOfCall) => Promise<{ data?: string }>;
  /** Reads the body of a 200, or throws an AttemptFailure. */
  readonly read: (text: string) => T;
}

/** How far a call has come, for the error of its deadline. */
interface Progress {
  attempt: number;
  previous: PaymentServiceError | undefined;
}

/**
 * Runs a call to its end: attempts and the waits between them, inside one deadline.
 *
 * @throws {PaymentServiceError}, or the reason of the caller's own signal.
 */
export async function runOperation<T>(
  call: OperationCall<T>,
  settings: ClientSettings,
  budget: RetryBudget,
  caller: AbortSignal | undefined,
): Promise<T> {
  caller?.throwIfAborted();
  const { timeoutMs, timing } = settings;
  const deadline = openDeadline(timeoutMs, caller, timing);
  const progress: Progress = { attempt: 1, previous: undefined };
  budget.deposit();
  try {
    return await runAttempts(call, settings, budget, deadline, progress);
  } catch (error) {
    if (!deadline.signal.aborted) throw error;
    throw deadline.isOver() ? timeoutError(call.operation, timeoutMs, progress) : deadline.signal.reason;
  } finally {
    deadline.close();
  }
}

async function runAttempts<T>(
  call: OperationCall<T>,
  settings: ClientSettings,
  budget: RetryBudget,
  deadline: Deadline,
  progress: Progress,
): Promise<T> {
  const { operation } = call;
  const { scrubber, timing, timeoutMs, maxAttempts } = settings;
  for (; ; progress.attempt += 1) {
    const { attempt } = progress;
    const started = timing.monotonic();
    let status: number | undefined;
    const report = (outcome: AttemptReport['outcome'], retryInMs?: number): void => {
      const durationMs = timing.monotonic() - started;
      settings.report({ operation, attempt, status, durationMs, outcome, retryInMs });
    };
    try {
      const value = await attemptOnce(call, settings, deadline, (known) => {
        status = known;
      });
      report('success');
      return value;
    } catch (error) {
      if (deadline.signal.aborted) report(deadline.isOver() ? 'timeout' : 'aborted');
      if (deadline.signal.aborted || !(error instanceof AttemptFailure)) throw error;
      const remainingMs = deadline.remainingMs();
      const { random } = timing;
      const plan = planRetry({
        failure: error,
        attempts: attempt,
        maxAttempts,
        timeoutMs,
        remainingMs,
        random,
        budget,
      });
      report(error.details.code, plan.waitMs);
      if (plan.waitMs === undefined) throw error.toError(operation, attempt, plan.why, scrubber);
      progress.previous = error.toError(operation, attempt, 'It was to be tried again.', scrubber);
      await wait(plan.waitMs, deadline.signal, timing);
    }
  }
}

async function attemptOnce<T>(
  { request, read }: OperationCall<T>,
  { send, timing }: ClientSettings,
  { signal }: Deadline,
  onStatus: (status: number) => void,
): Promise<T> {
  const context = { send, signal, now: timing.now, onStatus };
  const { data } = await request({
    fetch: (prepared) => exchange(prepared, context),
    signal,
    parseAs: 'text',
  });
  return read(data ?? '');
}

function timeoutError(
  operation: Operation,
  timeoutMs: number,
  { attempt, previous }: Progress,
): TimeoutError {
  const when = previous === undefined ? '' : ` (attempt ${attempt}; cause has the failure before it)`;
  return new TimeoutError(
    `${operation}: no complete answer within timeoutMs (${timeoutMs})${when}. Try again later, or raise timeoutMs.`,
    previous === undefined ? undefined : { cause: previous },
  );
}
