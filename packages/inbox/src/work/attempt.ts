import { failureCode } from '../events.ts';
import { backoff, type Settings } from '../options.ts';
import type { TransitionReason } from '../states.ts';
import type { Statements } from '../store/statements.ts';
import { numberOf, type Row, type Store, textOf } from '../store/store.ts';
import { pause, TimedOut, within } from '../time.ts';
import { type CaseFile, readCase, readClaimed } from './case.ts';
import { evaluate, type Verdict } from './evaluate.ts';
import { errorText, type Handlers } from './handlers.ts';

export interface WorkContext<Tx> {
  readonly store: Store<Tx>;
  readonly statements: Statements<Tx>;
  readonly settings: Settings;
  readonly handlers: Handlers<Tx>;
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal;
  /** Sets the server's limits, and takes the lock of the internal_reference; false if another process has it. */
  readonly enter: (tx: Tx, subjectKey: string, attempt: string) => Promise<boolean>;
}

/** A due transition, as the index gives it. */
export interface Due {
  readonly id: number;
  readonly nextAt: number;
  readonly subjectKey: string;
  readonly attempts: number;
  /** Earlier starts that no outcome followed: its handler may end the process. */
  readonly unfinished: number;
}

export function dueIn(row: Row): Due {
  return {
    id: numberOf(row, 'id'),
    nextAt: numberOf(row, 'next_at'),
    subjectKey: textOf(row, 'subject_key'),
    attempts: numberOf(row, 'attempts'),
    unfinished: numberOf(row, 'unfinished'),
  };
}

/** How often what waits for an expectation or another body looks again by itself: for about a quarter of an hour. */
const MAX_LOOKS = 10;
/** How long to wait for a reference that another worker has. */
const BUSY_MS = 200;

const ENDED =
  'The handler ended its transaction by itself, so what it did may be committed. Leave COMMIT and ROLLBACK to the inbox.';
const OVERTAKEN =
  'The expectation or the state of this transition changed while its handler ran, so what the handler did was undone. A ' +
  'handler must not change the expectation that it settles.';

/** Ends the transaction of an attempt, and says what is to be written outside of it. */
class Undone extends Error {
  readonly next: 'take_back' | { readonly reason: TransitionReason | undefined };

  constructor(next: Undone['next'], message = '') {
    super(message);
    this.next = next;
  }
}

function ended(): Undone {
  return new Undone({ reason: 'transaction_ended' }, ENDED);
}

/**
 * Works on one due transition. The start is committed first, so that it outlives a crash of the process;
 * then the effect and `settled` are one transaction; a failure rolls that back, and is written outside of it.
 *
 * @returns false when another process was faster.
 */
export async function attempt<Tx>(due: Due, context: WorkContext<Tx>): Promise<boolean> {
  const { statements, settings } = context;
  const lease = backoff(due.attempts + 1, settings);
  const attempts = due.attempts + 1;
  try {
    const [started] = await statements.run('start_attempt', [due.id, due.nextAt, lease]);
    if (started === undefined) return false;
  } catch (lost) {
    settings.emit({ name: 'store.unavailable', failure: failureCode(lost), retryInMs: BUSY_MS });
    // The start may be committed although its answer was lost. It is taken back then, so that it does not count as a crash.
    await record({ id: due.id, attempts, error: new Undone('take_back') }, context);
    return true;
  }
  const began = performance.now();
  try {
    await runInTransaction({ id: due.id, attempts, subjectKey: due.subjectKey }, context, () =>
      Math.round(performance.now() - began),
    );
  } catch (error) {
    await record({ id: due.id, attempts, error }, context);
  }
  return true;
}

interface Started {
  readonly id: number;
  readonly attempts: number;
  readonly subjectKey: string;
}

async function runInTransaction<Tx>(
  { id, attempts, subjectKey }: Started,
  context: WorkContext<Tx>,
  durationMs: () => number,
): Promise<void> {
  const { store, statements, settings, handlers } = context;
  let report: () => void = () => undefined;
  await store.transaction(async (tx) => {
    const mark = `${id}/${attempts}`;
    if (!(await context.enter(tx, subjectKey, mark))) throw new Undone('take_back');
    const file = await readCase(statements, id, tx);
    if (file === undefined || file.attempts !== attempts) throw new Undone('take_back');
    const { signed, transitionId } = file.evaluated;
    const isCompleted =
      signed.transaction_status === 'COMPLETED' && settings.completedEvents.includes(signed.event);
    const handler = handlers.find(signed, isCompleted);
    const verdict = evaluate(file.evaluated, { ...settings, isHandled: () => handler !== undefined });
    if (verdict.kind === 'park') {
      report = await park(file, verdict, context, tx);
      return;
    }
    const claimed = await readClaimed(statements, { id, digest: verdict.digest }, tx);
    const { currency, amount } = verdict.settled ?? {};
    const settled =
      currency === undefined || amount === undefined ? undefined : Object.freeze({ currency, amount });
    const input = Object.freeze({ tx, signed, settled, claimed, attempt: attempts, transitionId });
    const running = Promise.resolve().then(() => handler?.run(input));
    try {
      await within(settings.handlerTimeoutMs, running, 'The handler did not settle within handlerTimeoutMs.');
    } catch (error) {
      // What it did may be committed although it failed, so it must not run again.
      const isLate = error instanceof TimedOut;
      if (!isLate && !(await isOwn(statements, mark, tx).catch(() => true))) throw ended();
      throw error;
    }
    await settle(file, { verdict, mark }, context, tx);
    report = () =>
      settings.emit({
        name: 'transition.settled',
        transitionId,
        state: 'settled',
        attempt: attempts,
        contradicted: verdict.isContradicted,
        durationMs: durationMs(),
      });
  });
  report();
}

async function park<Tx>(
  file: CaseFile,
  { state, reason, isWaiting }: Extract<Verdict, { kind: 'park' }>,
  { statements, settings }: WorkContext<Tx>,
  tx: Tx,
): Promise<() => void> {
  const again = isWaiting && file.looks < MAX_LOOKS ? backoff(file.looks + 1, settings) : null;
  const parked = await statements.run('park', [file.id, file.revision, state, reason, again], tx);
  // What came meanwhile may change the verdict.
  if (parked.length === 0) throw new Undone('take_back');
  const { transitionId } = file.evaluated;
  return () => {
    if (file.looks === 0) settings.emit({ name: 'transition.parked', transitionId, state, reason });
  };
}

/**
 * These conditions make an effect happen once: a second attempt, on any machine and after any crash, finds them false, and
 * its effects are rolled back.
 */
async function settle<Tx>(
  file: CaseFile,
  { verdict, mark }: { readonly verdict: Extract<Verdict, { kind: 'apply' }>; readonly mark: string },
  { statements }: WorkContext<Tx>,
  tx: Tx,
): Promise<void> {
  const { transitionId, signed } = file.evaluated;
  if (!(await isOwn(statements, mark, tx))) throw ended();
  const { settled, digest } = verdict;
  if (settled !== undefined) {
    const { currency, amount, compare } = settled;
    const values = [file.referenceKey, file.transactionType, transitionId, currency, amount, compare];
    const changed = await statements.run('settle_expectation', values, tx);
    if (changed.length === 0) throw new Undone({ reason: undefined }, OVERTAKEN);
  }
  const marked = await statements.run('settle_transition', [file.id, file.attempts, digest], tx);
  if (marked.length === 0) throw new Undone({ reason: undefined }, OVERTAKEN);
  const status = JSON.stringify(signed.transaction_status);
  await statements.run('record_applied', [file.subjectKey, status, transitionId], tx);
}

/** False when the handler has ended the transaction: on PostgreSQL its mark is gone, on SQLite the transaction itself. */
async function isOwn<Tx>(statements: Statements<Tx>, mark: string, tx: Tx): Promise<boolean> {
  try {
    const [row] = await statements.run('is_own_transaction', [mark], tx);
    return Boolean(row?.['is_own']);
  } catch (error) {
    if (failureCode(error) === 'TRANSACTION_ENDED') return false;
    throw error;
  }
}

/**
 * Writes what became of an attempt that was rolled back. Tried until the store is back: a process that lives has not ended,
 * and its attempts must not pass for a crash loop.
 */
async function record<Tx>(
  { id, attempts, error }: { readonly id: number; readonly attempts: number; readonly error: unknown },
  { statements, settings, signal }: WorkContext<Tx>,
): Promise<void> {
  const undone = error instanceof Undone ? error : undefined;
  const reason: TransitionReason | undefined =
    typeof undone?.next === 'object' && undone.next.reason !== undefined
      ? undone.next.reason
      : attempts >= settings.retry.attempts
        ? 'attempts_used_up'
        : undefined;
  const delayMs = backoff(attempts, settings);
  const state = reason === undefined ? 'retrying' : 'dead';
  const text = undone === undefined ? errorText(error) : undone.message;
  const values = [id, attempts, state, reason ?? null, reason === undefined ? delayMs : null, text];
  for (let failures = 0; ; failures += 1) {
    try {
      if (undone?.next === 'take_back') {
        await within(settings.storeTimeoutMs, statements.run('take_back', [id, attempts, BUSY_MS]));
        return;
      }
      const [failed] = await within(settings.storeTimeoutMs, statements.run('fail_attempt', values));
      if (failed === undefined) return;
      const transitionId = textOf(failed, 'transition_id');
      settings.emit(
        reason === undefined
          ? { name: 'transition.retrying', transitionId, state: 'retrying', attempt: attempts, delayMs }
          : { name: 'transition.parked', transitionId, state: 'dead', reason },
      );
      return;
    } catch (lost) {
      if (signal.aborted && failures > 0) return;
      const retryInMs = Math.min(5000, 250 * 2 ** Math.min(failures, 5));
      settings.emit({ name: 'store.unavailable', failure: failureCode(lost), retryInMs });
      await pause(retryInMs, signal);
    }
  }
}
