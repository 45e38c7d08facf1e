import { checkOptions } from '@payment-service/core/internal';
import { failureCode } from '../events.ts';
import { wholeNumber } from '../option-rules.ts';
import { MAX_COUNTED, TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import { FILE_CHANGED } from '../store/sqlite/opened-files.ts';
import { choiceOf, dateOf, numberOf, textOf } from '../store/store.ts';
import { within } from '../time.ts';
import { findPutOff } from '../work/put-off.ts';
import { jsonTextOf, reasonIn } from '../work/verdict/stored.ts';
import type { OperatorContext } from './views.ts';

/** How many transitions are in each state, and what is waiting. */
export interface InboxStats {
  /** When they were counted, by the clock of the database: `until` of a bulk action that is decided on these counts. */
  readonly at: Date;
  /**
   * At most 10,000 are counted of each state. `settled` is counted completely, unless another state has more. `pending` ones
   * are counted among the first 10,000 in the order in which workers take them.
   */
  readonly states: Readonly<Record<TransitionState, number>>;
  /** How many transitions have each reason, at most 10,000. */
  readonly reasons: Readonly<Partial<Record<TransitionReason, number>>>;
  /** How many transitions `prune()` has moved into the archive. The counts above do not include them. */
  readonly archived: number;
  /** How long the oldest transition that is due has waited for a worker, in seconds; 0 when none is due. */
  readonly oldestDueSeconds: number;
  /** Unsettled expectations past their deadline. At most 10,000 are counted. */
  readonly overdue: number;
  /** Deliveries in the spool of this machine, not stored yet. */
  readonly spooled: number;
}

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

/** An expectation whose callback has not arrived in time. */
export interface OverdueExpectation {
  readonly merchant_reference: string;
  readonly currency: string;
  readonly amount: string;
  readonly deadline: Date;
}

export async function readStats<Tx>(context: OperatorContext<Tx>): Promise<InboxStats> {
  const { statements, settings, spool } = context;
  const states: Record<string, number> = Object.fromEntries(TRANSITION_STATES.map((state) => [state, 0]));
  const reasons: Record<string, number> = {};
  let [settled, archived, isCut] = [0, 0, false];
  const [clock = {}] = await statements.run('read_clock', []);
  for (const row of await statements.run('count_states', [settings.account])) {
    const state = row['state'] === null ? undefined : choiceOf(row, 'state', TRANSITION_STATES);
    const [reason, count] = [reasonIn(row, 'reason'), numberOf(row, 'count')];
    archived += numberOf(row, 'archived');
    settled += state === undefined ? count : -count;
    if (state === undefined) continue;
    states[state] = Math.min((states[state] ?? 0) + count, MAX_COUNTED);
    if (reason !== undefined) reasons[reason] = Math.min((reasons[reason] ?? 0) + count, MAX_COUNTED);
    isCut ||= count >= MAX_COUNTED;
  }
  if (isCut) {
    const [row = {}] = await statements.run('count_settled', [settings.account]);
    settled = numberOf(row, 'count');
  }
  const [row = {}] = await statements.run('count_overdue', [settings.account]);
  return {
    at: dateOf(clock, 'now'),
    states: { ...states, settled } as InboxStats['states'],
    reasons,
    archived,
    oldestDueSeconds: await oldestDueSeconds(context),
    overdue: numberOf(row, 'count'),
    spooled: (await spool?.count()) ?? 0,
  };
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

export async function listOverdue<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  options: { readonly limit?: number | undefined },
): Promise<OverdueExpectation[]> {
  checkOptions('overdue()', options, { limit: wholeNumber(100_000) });
  return (await statements.run('list_overdue', [settings.account, options.limit ?? 1000])).map((row) => ({
    merchant_reference: jsonTextOf(row, 'merchant_reference'),
    currency: textOf(row, 'currency'),
    amount: textOf(row, 'amount'),
    deadline: dateOf(row, 'deadline_at'),
  }));
}
