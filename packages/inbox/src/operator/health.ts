import { checkOptions } from '@payment-service/core/internal';
import { failureCode } from '../events.ts';
import { SIGNAL, wholeNumber } from '../option-rules.ts';
import { warn } from '../problems.ts';
import type { Readiness } from '../store/readiness.ts';
import { FILE_CHANGED } from '../store/sqlite/opened-files.ts';
import { numberOf } from '../store/store.ts';
import { unlessAborted, within } from '../time.ts';
import { findPutOff } from '../work/put-off.ts';
import type { OperatorContext } from './views.ts';

/** By default, a transition that has been due for this long is late. */
export const LATE_SECONDS = 60;

/**
 * What is wrong: the store or the spool does not answer or has lost something, callbacks wait in the spool, a report has waited too
 * long for a worker, or a clock was ahead, so that work is put off. `payment-service-inbox doctor` says what to do about each.
 */
export type HealthProblem =
  | 'store_unavailable'
  | 'database_file_changed'
  | 'oldest_due_too_old'
  | 'clock_was_ahead'
  | 'spool_unavailable'
  | 'spool_not_drained'
  | 'spool_lost';

/** Options of `health()`. */
export interface HealthOptions {
  /** How many seconds a report that is due may wait for a worker. @default 60 */
  readonly maxPendingAgeSeconds?: number | undefined;
  /** Ends the waiting: the call rejects with its reason. @default `storeTimeoutMs` alone */
  readonly signal?: AbortSignal | undefined;
}

/** What `health()` found. */
export interface InboxHealth {
  /** There is no problem. */
  readonly ok: boolean;
  readonly problems: readonly HealthProblem[];
  /** For how long the oldest report that is due has waited, in seconds; 0 if none is, undefined if the store does not answer. */
  readonly oldestDueSeconds: number | undefined;
  /** How many callbacks are in the spool; 0 without one, undefined if it does not answer. */
  readonly spooled: number | undefined;
}

/** @throws The reason of the signal. */
export async function readHealth<Tx>(
  context: OperatorContext<Tx>,
  tryToKeep: () => Promise<void>,
  options: HealthOptions,
): Promise<InboxHealth> {
  checkOptions('health()', options, { maxPendingAgeSeconds: wholeNumber(), signal: SIGNAL });
  const { maxPendingAgeSeconds = LATE_SECONDS, signal } = options;
  signal?.throwIfAborted();
  return unlessAborted(signal, examine(context, tryToKeep, maxPendingAgeSeconds));
}

async function examine<Tx>(
  context: OperatorContext<Tx>,
  tryToKeep: () => Promise<void>,
  maxPendingAgeSeconds: number,
): Promise<InboxHealth> {
  const { settings, spool } = context;
  let failure: string | undefined;
  const answer = <T>(promise: Promise<T>): Promise<T | undefined> =>
    within(settings.storeTimeoutMs, promise).catch((error: unknown) => {
      failure = failureCode(error);
      return undefined;
    });
  const spooled = spool === undefined ? 0 : await answer(spool.check().then(() => spool.count()));
  const isLost = spool?.kept.isLost === true;
  // A store that only answers queries would keep no callback: a standby, a full disk, a role that may only select.
  const due = async () => [await oldestDueSeconds(context), await findPutOff(context)] as const;
  const answered = await answer(tryToKeep().then(due));
  const [oldest = 0, putOff = []] = answered ?? [];
  const isChanged = answered === undefined && failure === FILE_CHANGED;
  const found: readonly (readonly [HealthProblem, boolean])[] = [
    ['spool_lost', isLost],
    ['spool_unavailable', spooled === undefined && !isLost],
    ['spool_not_drained', spooled !== undefined && spooled > 0],
    ['database_file_changed', isChanged],
    ['store_unavailable', answered === undefined && !isChanged],
    ['oldest_due_too_old', oldest > maxPendingAgeSeconds],
    ['clock_was_ahead', putOff.length > 0],
  ];
  const problems = found.flatMap(([problem, isFound]) => (isFound ? [problem] : []));
  return { ok: problems.length === 0, problems, oldestDueSeconds: answered?.[0], spooled };
}

/** Counted from the moment at which it became due: a transition that waits for its next attempt is not late. */
export async function oldestDueSeconds<Tx>({ statements, settings }: OperatorContext<Tx>): Promise<number> {
  const [row = {}] = await statements.run('oldest_due', [settings.account]);
  return Math.max(0, numberOf(row, 'late') / 1000);
}

const WATCH_MS = 60_000;

interface Watched<Tx> {
  readonly context: OperatorContext<Tx>;
  readonly isWorking: () => boolean;
  readonly readiness: Readiness<Tx>;
}

/** Looks after a process that keeps callbacks. */
export interface Watch {
  /** A callback was kept. A worker of this process finds it and also checks the tables. */
  readonly kept: () => void;
  readonly close: () => Promise<void>;
}

/**
 * While a process keeps callbacks, it checks, with the first one and then at most once a minute, whether they are worked on and
 * whether the tables are still those that it knows. Its timer does not keep the process alive.
 */
export function watch<Tx>({ context, isWorking, readiness }: Watched<Tx>): Watch {
  let timer: NodeJS.Timeout | undefined;
  let [isAwaited, isReported, isClosed] = [false, false, false];
  let looking: Promise<void> | undefined;
  const again = (): void => {
    timer = undefined;
    if (isAwaited) looking = look();
  };
  const look = async (): Promise<void> => {
    timer = setTimeout(again, WATCH_MS).unref();
    try {
      await readiness.checkTables();
      const seconds = isWorking() ? 0 : await oldestDueSeconds(context);
      isAwaited = seconds > 0;
      if (seconds >= LATE_SECONDS && !isReported)
        warn(
          context.settings.report,
          'no_worker',
          `A transition has been due for ${Math.floor(seconds)} seconds, and this process only keeps callbacks without working on ` +
            'them: probably no process runs inbox.work(). Nothing is lost, and nothing is applied until one does.',
        );
      isReported = seconds >= LATE_SECONDS;
    } catch {
      // An unavailable store is reported where a callback needs it.
    }
  };
  return {
    kept() {
      if (isWorking()) return;
      isAwaited = true;
      if (timer === undefined && !isClosed) looking = look();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
