import { backoff } from './backoff.ts';
import { type CaseFile, readCaseFile } from './case-file.ts';
import { type EvaluationRules, evaluate, type Verdict } from './evaluation.ts';
import type { InboxEvent } from './events.ts';
import { errorText, type HandledTransition, runHandler } from './handler.ts';
import type { HandlerGate } from './handler-gate.ts';
import { markFailed, type OutcomeContext } from './outcome.ts';
import { fromHex, hexOf } from './session.ts';
import type { Settings } from './settings.ts';
import type { Settlement } from './settlement.ts';
import type { Lane } from './store.ts';
import type { Tables } from './tables.ts';
import type { TransitionReason } from './transition-state.ts';
import { UncountedStart } from './uncounted-start.ts';
import { TransactionEnded, UnrecordedAttempt } from './unrecorded-attempt.ts';

/** What the steps of all lanes share. */
export interface WorkContext<Tx> {
  readonly settings: Settings;
  readonly tables: Tables;
  readonly rules: EvaluationRules;
  readonly handler: { run(transition: HandledTransition<Tx>): unknown };
  readonly gate: Pick<HandlerGate, 'tryEnter'>;
  /** Counts an attempt outside of its own transaction. To do so twice is harmless. */
  readonly record: (attempt: UnrecordedAttempt) => Promise<void>;
}

const OVERTAKEN =
  'The expectation or the state of this transition changed while its handler ran, so what the handler did was undone. A ' +
  'handler must not change the expectation that it is settling.';

/** While an expectation is being changed, its transitions wait this long. */
const POSTPONED_MS = 200;

type Park = Extract<Verdict, { kind: 'park' }>;
type Apply = Extract<Verdict, { kind: 'apply' }>;

/**
 * What came of a step. `idle`: nothing is due. `waits`, `suspect_waits`: the gate does not let the handler in now, and
 * nothing is kept locked for it.
 */
export type Outcome = 'idle' | 'done' | 'waits' | 'suspect_waits';

/**
 * Takes one transition as far as it goes, in one transaction.
 *
 * @throws {UnrecordedAttempt}, {UncountedStart}, or what the engine throws; the lane is of no more use then.
 */
export async function workStep<Tx>(lane: Lane<Tx>, context: WorkContext<Tx>): Promise<Outcome> {
  const { settings, rules } = context;
  const now = settings.now();
  const id = await lane.claim(settings.account, now);
  if (id === undefined) return 'idle';
  const file = await read(lane, id, context);
  if (file.dueAt === undefined || file.dueAt > now) {
    await lane.rollback();
    return 'done';
  }
  const verdict = evaluate(file.evaluated, rules);
  if (verdict.kind === 'apply') return apply(lane, file, verdict, context);
  await park(lane, file, verdict, settings);
  return 'done';
}

async function park<Tx>(lane: Lane<Tx>, file: CaseFile, verdict: Park, settings: Settings): Promise<void> {
  const { state, reason } = verdict;
  const now = settings.now();
  const outcome = await lane.park({
    transitionId: file.id,
    referenceKey: file.referenceKey,
    revision: file.revision,
    expectationRevision: file.expectationRevision,
    state,
    reason,
    now,
    postponedTo: now + POSTPONED_MS,
  });
  // What came meanwhile undoes the verdict; the transition is still due, and read again.
  if (outcome === 'changed') return lane.rollback();
  await lane.commit();
  if (outcome === 'parked') {
    settings.emit({ name: 'transition.parked', transitionId: hexOf(file.id), state, reason });
  }
}

async function apply<Tx>(
  lane: Lane<Tx>,
  file: CaseFile,
  verdict: Apply,
  context: WorkContext<Tx>,
): Promise<Outcome> {
  const isSuspect = file.evaluated.unfinishedStarts > 0;
  const leave = context.gate.tryEnter(isSuspect);
  if (leave === undefined) {
    await lane.rollback();
    return isSuspect ? 'suspect_waits' : 'waits';
  }
  try {
    await countStart(lane, file);
    return await runAndRecord(lane, file, verdict, context);
  } catch (error) {
    // Its locks are gone with its transaction: recorded before the gate lets anybody run it again. Where that fails, it is
    // tried again when the store is back, as with every attempt that is thrown.
    if (error instanceof UnrecordedAttempt && error.isFinal)
      await context.record(error).catch(() => undefined);
    throw error;
  } finally {
    leave();
  }
}

async function runAndRecord<Tx>(
  lane: Lane<Tx>,
  file: CaseFile,
  verdict: Apply,
  context: WorkContext<Tx>,
): Promise<Outcome> {
  const { settings, handler } = context;
  const started = performance.now();
  const transitionId = hexOf(file.id);
  const attempt = file.attempts + 1;
  try {
    let result = await runHandler(
      (transition: HandledTransition<Tx>) => handler.run(transition),
      { signed: file.signed, settled: verdict.settled, attempt, transitionId },
      { transaction: (guard) => lane.handlerTransaction(guard), timeoutMs: settings.handlerTimeoutMs },
    );
    if (result.ok) result = await release(lane);
    if (!result.ok) return await fail(lane, file, result.error, context);
    if (!(await lane.settle(settlement(file, verdict, settings.now())))) {
      await lane.rollback();
      return await recordOvertaken(file, context);
    }
    await lane.commit();
  } catch (error) {
    throw error instanceof UnrecordedAttempt ? error : new UnrecordedAttempt(file, error);
  }
  const durationMs = Math.round(performance.now() - started);
  settings.emit({ name: 'transition.settled', transitionId, state: 'settled', attempt, durationMs });
  return 'done';
}

async function recordOvertaken<Tx>(file: CaseFile, { record }: WorkContext<Tx>): Promise<Outcome> {
  const attempt = new UnrecordedAttempt(file, new Error(OVERTAKEN));
  try {
    await record(attempt);
    return 'done';
  } catch (error) {
    throw new UnrecordedAttempt(file, error, attempt.reported);
  }
}

async function countStart<Tx>(lane: Lane<Tx>, file: CaseFile): Promise<void> {
  try {
    await lane.countStart(file.id);
  } catch (error) {
    throw new UncountedStart(file, error);
  }
}

function settlement(file: CaseFile, { settled, compare, digest }: Apply, now: number): Settlement {
  return {
    transitionId: file.id,
    referenceKey: file.referenceKey,
    subjectKey: file.subjectKey,
    status: JSON.stringify(file.signed.transaction_status),
    settled: settled && compare && { ...settled, compare },
    digest: digest === undefined ? undefined : fromHex(digest),
    now,
  };
}

async function release<Tx>(lane: Lane<Tx>): Promise<{ ok: true } | { ok: false; error: string }> {
  try {
    await lane.releaseSavepoint();
    return { ok: true };
  } catch (error) {
    if (error instanceof TransactionEnded) throw error;
    return { ok: false, error: errorText(error) };
  }
}

async function fail<Tx>(
  lane: Lane<Tx>,
  file: CaseFile,
  error: string,
  context: WorkContext<Tx>,
): Promise<Outcome> {
  try {
    await lane.rollbackToSavepoint();
  } catch (lost) {
    throw new UnrecordedAttempt(file, lost, error);
  }
  const event = await recordFailure(file, error, context.settings, outcomeContext(lane, context));
  await lane.commit();
  if (event !== undefined) context.settings.emit(event);
  return 'done';
}

/**
 * Counts a failed attempt and decides when the next one is; the transition is `dead` after the last.
 *
 * @returns the event to emit once that is committed; undefined when the attempt was counted before.
 */
export async function recordFailure(
  file: Pick<CaseFile, 'id' | 'attempts'> & { readonly isFinal?: boolean },
  error: string,
  { retry, random }: Settings,
  outcome: OutcomeContext,
): Promise<InboxEvent | undefined> {
  const attempt = file.attempts + 1;
  const transitionId = hexOf(file.id);
  const delayMs = backoff(attempt, retry, random());
  const reason: TransitionReason | undefined = file.isFinal
    ? 'transaction_ended'
    : attempt >= retry.attempts
      ? 'attempts_used_up'
      : undefined;
  const next = reason === undefined ? { at: outcome.now + delayMs } : { reason };
  if (!(await markFailed(file, { error, next }, outcome))) return undefined;
  if (reason !== undefined) return { name: 'transition.parked', transitionId, state: 'dead', reason };
  return { name: 'transition.retrying', transitionId, state: 'retrying', attempt, delayMs };
}

function read<Tx>(lane: Lane<Tx>, id: Uint8Array, { tables }: WorkContext<Tx>): Promise<CaseFile> {
  return readCaseFile(lane.session, tables, id);
}

function outcomeContext<Tx>({ session }: Lane<Tx>, { tables, settings }: WorkContext<Tx>): OutcomeContext {
  return { session, tables, now: settings.now() };
}
