import { checkOptions } from '@payment-service/core/internal';
import { SIGNAL, wholeNumber } from '../option-rules.ts';
import { failureCode } from '../reporting/events.ts';
import { FILE_CHANGED } from '../store/sqlite/opened-files.ts';
import { unlessAborted, within } from '../time.ts';
import { checkDue, readDue } from '../work/due-checks.ts';
import type { OperatorContext } from './reports.ts';

/**
 * What is wrong: the store or the spool does not answer, its file was moved or is damaged, callbacks wait in the spool, a report
 * has waited too long for a worker, or a clock was ahead, so that work is put off. `payment-service-inbox doctor` says what to do
 * about each.
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
  const { maxPendingAgeSeconds, signal } = options;
  signal?.throwIfAborted();
  return unlessAborted(signal, examine(context, tryToKeep, maxPendingAgeSeconds));
}

async function examine<Tx>(
  context: OperatorContext<Tx>,
  tryToKeep: () => Promise<void>,
  maxPendingAgeSeconds: number | undefined,
): Promise<InboxHealth> {
  const { settings, spool } = context;
  let failure: string | undefined;
  const answer = <T>(promise: Promise<T>): Promise<T | undefined> =>
    within(settings.storeTimeoutMs, promise).catch((error: unknown) => {
      failure = failureCode(error);
      return undefined;
    });
  const spooled = spool === undefined ? 0 : await answer(spool.file.check().then(() => spool.count()));
  const isLost = spool?.trouble !== undefined;
  // A store that only answers queries would keep no callback: a standby, a full disk, a role that may only select.
  const due = await answer(tryToKeep().then(() => readDue(context)));
  const late = due === undefined ? [] : [...checkDue(due, maxPendingAgeSeconds)];
  const isChanged = due === undefined && failure === FILE_CHANGED;
  const found: readonly (readonly [HealthProblem, boolean])[] = [
    ['spool_lost', isLost],
    ['spool_unavailable', spooled === undefined && !isLost],
    ['spool_not_drained', spooled !== undefined && spooled > 0],
    ['database_file_changed', isChanged],
    ['store_unavailable', due === undefined && !isChanged],
    ['oldest_due_too_old', late.some(({ check }) => check === 'worker')],
    ['clock_was_ahead', late.some(({ check }) => check === 'clock')],
  ];
  const problems = found.flatMap(([problem, isFound]) => (isFound ? [problem] : []));
  return { ok: problems.length === 0, problems, oldestDueSeconds: due?.oldestSeconds, spooled };
}
