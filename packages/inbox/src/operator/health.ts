import { checkOptions } from '@payment-service/core/internal';
import { failureCode } from '../events.ts';
import { wholeNumber } from '../option-rules.ts';
import { FILE_CHANGED } from '../store/sqlite/opened-files.ts';
import { numberOf } from '../store/store.ts';
import { within } from '../time.ts';
import { findPutOff } from '../work/put-off.ts';
import type { OperatorContext } from './views.ts';

/** By default, a transition that has been due for this long is late. */
export const LATE_SECONDS = 60;

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
  const problems: HealthProblem[] = [];
  let failure: string | undefined;
  const answer = <T>(promise: Promise<T>): Promise<T | undefined> =>
    within(settings.storeTimeoutMs, promise).catch((error: unknown) => {
      failure = failureCode(error);
      return undefined;
    });
  const spooled = spool === undefined ? 0 : await answer(spool.check().then(() => spool.count()));
  const isLost = spool?.kept.isLost === true;
  if (isLost) problems.push('spool_lost');
  if (spooled === undefined && !isLost) problems.push('spool_unavailable');
  if (spooled !== undefined && spooled > 0) problems.push('spool_not_drained');
  // A store that only answers queries would keep no callback: a standby, a full disk, a role that may only select.
  const found = await answer(
    tryToKeep().then(async () => ({
      oldest: await oldestDueSeconds(context),
      putOff: await findPutOff(context),
    })),
  );
  const oldest = found?.oldest;
  if (found === undefined)
    problems.push(failure === FILE_CHANGED ? 'database_file_changed' : 'store_unavailable');
  else if (found.oldest > (options.maxPendingAgeSeconds ?? LATE_SECONDS)) problems.push('oldest_due_too_old');
  if (found !== undefined && found.putOff.length > 0) problems.push('clock_was_ahead');
  return { ok: problems.length === 0, problems, oldestDueSeconds: oldest, spooled };
}

/** Counted from the moment at which it became due: a transition that waits for its next attempt is not late. */
export async function oldestDueSeconds<Tx>({ statements, settings }: OperatorContext<Tx>): Promise<number> {
  const [row = {}] = await statements.run('oldest_due', [settings.account]);
  return Math.max(0, numberOf(row, 'late') / 1000);
}
