import { checkOptions } from '@payment-service/core/internal';
import { wholeNumber } from '../option-rules.ts';
import { failureCode } from '../reporting/events.ts';
import { FILE_CHANGED } from '../store/sqlite/opened-files.ts';
import { within } from '../time.ts';
import { checkDue, readDue } from '../work/due-checks.ts';
import type { OperatorContext } from './reports.ts';

export type HealthProblem =
  | 'store_unavailable'
  | 'database_file_changed'
  | 'oldest_due_too_old'
  | 'clock_was_ahead'
  | 'spool_unavailable'
  | 'spool_not_drained'
  | 'spool_lost';

/** What `health()` found. */
export interface InboxHealth {
  readonly ok: boolean;
  readonly problems: readonly HealthProblem[];
  /** In seconds; undefined if the store does not answer. */
  readonly oldestDueSeconds: number | undefined;
  /** Undefined if the spool does not answer. */
  readonly spooled: number | undefined;
}

export async function readHealth<Tx>(
  context: OperatorContext<Tx>,
  tryToKeep: () => Promise<void>,
  options: { readonly maxPendingAgeSeconds?: number | undefined },
): Promise<InboxHealth> {
  checkOptions('health()', options, { maxPendingAgeSeconds: wholeNumber() });
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
  const due = await answer(tryToKeep().then(() => readDue(context)));
  const late = due === undefined ? [] : [...checkDue(due, options.maxPendingAgeSeconds)];
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
