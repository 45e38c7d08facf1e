import { ConfigurationError } from '@payment-service/core';
import { checkOptions } from '@payment-service/core/internal';
import { SIGNAL, wholeNumber } from '../option-rules.ts';
import { adviceOn } from '../reporting/database-advice.ts';
import { failureCode } from '../reporting/events.ts';
import { warn } from '../reporting/problems.ts';
import type { Readiness } from '../store/readiness.ts';
import { pause } from '../time.ts';
import type { WorkContext } from './attempt/attempt-stages.ts';
import { dispatch } from './dispatcher.ts';
import { type DrainContext, type Drained, type DrainOptions, drainDue } from './drain.ts';
import { bringBack } from './put-off.ts';
import type { Wakeup } from './wakeup.ts';

/** Options of `work()`. */
export interface WorkerOptions {
  /**
   * When it is aborted, no further transition is started, running handlers end, and `work()` resolves.
   *
   * @default it works until `close()`
   */
  readonly signal?: AbortSignal | undefined;
  /** How many handlers may run at the same time. @default 4; on SQLite 1, since it has one writer */
  readonly concurrency?: number | undefined;
  /** How often to look for callbacks that other processes have kept, in milliseconds, at most an hour. @default 1000 */
  readonly pollMs?: number | undefined;
}

/** The number of polls between two checks of the version of the tables. */
const POLLS = 10;

export interface WorkerParts<Tx> extends Omit<DrainContext<Tx>, 'signal' | 'concurrency'> {
  readonly readiness: Readiness<Tx>;
  readonly wakeup: Wakeup<Tx>;
  /** Aborted by `close()`. */
  readonly closed: AbortSignal;
}

/** The worker of an inbox: runs until it is ended, or for one pass. */
export class Worker<Tx> {
  readonly #parts: WorkerParts<Tx>;
  #working: Promise<unknown> | undefined;

  constructor(parts: WorkerParts<Tx>) {
    this.#parts = parts;
  }

  /** Undefined while `work()` does not run; settled when its handlers have ended. */
  get working(): Promise<unknown> | undefined {
    return this.#working;
  }

  readonly work = async (given: WorkerOptions = {}): Promise<void> => {
    checkOptions('work()', given, {
      signal: [(value) => value instanceof AbortSignal, 'an AbortSignal, which ends it gracefully'],
      concurrency: wholeNumber(),
      pollMs: wholeNumber(3_600_000),
    });
    const { readiness, wakeup, closed } = this.#parts;
    const concurrency = concurrencyOf('work()', given.concurrency, this.#parts);
    if (this.#working !== undefined)
      throw new ConfigurationError(
        'work',
        'This inbox is already working. To run more handlers, use concurrency.',
      );
    const signal = given.signal === undefined ? closed : AbortSignal.any([given.signal, closed]);
    const { pollMs = 1000 } = given;
    const dispatching = dispatch({ ...this.#parts, ready: readiness.ready, pollMs, signal, concurrency });
    const following = this.#follow(signal, pollMs * POLLS);
    wakeup.isWorking = true;
    this.#working = Promise.all([dispatching, wakeup.listen(signal), following]).finally(() => {
      wakeup.isWorking = false;
      this.#working = undefined;
    });
    await this.#working;
  };

  /** @returns the pass, which begins when it is called: its options are checked before the store. */
  drain(given: DrainOptions): () => Promise<Drained> {
    checkOptions('drain()', given, {
      limit: wholeNumber(),
      deadlineMs: wholeNumber(),
      concurrency: wholeNumber(),
      signal: SIGNAL,
    });
    const { limit = Number.POSITIVE_INFINITY, deadlineMs = 30_000 } = given;
    const concurrency = concurrencyOf('drain()', given.concurrency, this.#parts);
    const ends = [this.#parts.closed, AbortSignal.timeout(deadlineMs), given.signal];
    const signal = AbortSignal.any(ends.filter((each) => each !== undefined));
    return () => drainDue({ ...this.#parts, concurrency, signal }, limit);
  }

  /**
   * While a worker runs, detects a change of the version of the tables, makes due what a clock has put off, merges the counts and
   * keeps the hours.
   */
  async #follow(signal: AbortSignal, everyMs: number): Promise<void> {
    const { report } = this.#parts.settings;
    for (let isReported = false; !signal.aborted; await pause(everyMs, signal)) {
      const failed = await this.#look().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      if (failed !== undefined && !isReported && !this.#parts.readiness.isOutdated && !signal.aborted) {
        const advice = adviceOn(failed.error);
        const why =
          failed.error instanceof ConfigurationError
            ? `: ${failed.error.message}`
            : `.${advice === undefined ? '' : ` ${advice}`}`;
        const what = `work() cannot use the database (${failureCode(failed.error)}), so nothing is applied; it tries again`;
        warn(report, 'worker_waits', what + why);
      }
      isReported = failed !== undefined;
    }
  }

  async #look(): Promise<void> {
    const { readiness } = this.#parts;
    await readiness.ready();
    await readiness.checkTables();
    await bringBack(this.#parts);
    await this.#parts.keepSums();
  }
}

/** How many handlers may run at the same time: at most as many as the store has connections for. */
function concurrencyOf<Tx>(
  call: string,
  given: number | undefined,
  { store, handlers }: Pick<WorkContext<Tx>, 'store' | 'handlers'>,
): number {
  const { maxConcurrency = Number.POSITIVE_INFINITY } = store;
  const concurrency = given ?? Math.min(4, maxConcurrency);
  if (handlers.size === 0)
    throw new ConfigurationError('handler', `${call} needs a handler: call handle() first.`);
  if (store.dialect === 'postgres' && concurrency > maxConcurrency) {
    throw new ConfigurationError(
      'concurrency',
      `The pool has connections for ${maxConcurrency} handlers at the same time; for ${concurrency} it needs a max of ` +
        `${concurrency + 2}: the inbox itself uses two. Raise its max, or lower concurrency.`,
    );
  }
  return Math.min(concurrency, maxConcurrency);
}
