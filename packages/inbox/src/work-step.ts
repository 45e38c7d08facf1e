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

/** What the steps of all lanes share. */
export interface WorkContext<Tx> {
  readonly settings: Settings;
  readonly tables: Tables;
  readonly rules: EvaluationRules;
  readonly handler: { run(transition: HandledTransition<Tx>): unknown };
  readonly gate: HandlerGate;
}

/** A handler was started, and what became of it could not be written: its connection broke, or its commit failed. */
export class UnrecordedAttempt extends Error {
  readonly id: Uint8Array;
  readonly attempts: number;

  constructor({ id, attempts }: CaseFile, cause: unknown) {
    super('The outcome of a handler could not be recorded.', { cause });
    this.id = id;
    this.attempts = attempts;
  }
}

/** While an expectation is being changed, its transitions wait this long. */
const POSTPONED_MS = 200;

type Park = Extract<Verdict, { kind: 'park' }>;
type Apply = Extract<Verdict, { kind: 'apply' }>;

/**
 * Takes one transition as far as it goes, in one transaction.
 *
 * @returns false when nothing is due.
 * @throws {UnrecordedAttempt}, or what the engine throws; the lane is of no more use then.
 */
export async function workStep<Tx>(lane: Lane<Tx>, context: WorkContext<Tx>): Promise<boolean> {
  const { settings, rules } = context;
  const id = await lane.claim(settings.account, settings.now());
  if (id === undefined) return false;
  const file = await read(lane, id, context);
  const verdict = evaluate(file.evaluated, rules);
  if (verdict.kind === 'apply') await apply(lane, file, verdict, context);
  else await park(lane, file, verdict, settings);
  return true;
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
): Promise<void> {
  const leave = await context.gate.enter(file.evaluated.unfinishedStarts > 0);
  try {
    await lane.countStart(file.id);
    await runAndRecord(lane, file, verdict, context);
  } finally {
    leave();
  }
}

async function runAndRecord<Tx>(
  lane: Lane<Tx>,
  file: CaseFile,
  { settled, digest }: Apply,
  context: WorkContext<Tx>,
): Promise<void> {
  const { settings, handler } = context;
  const started = performance.now();
  const transitionId = hexOf(file.id);
  const attempt = file.attempts + 1;
  try {
    let result = await runHandler(
      (transition: HandledTransition<Tx>) => handler.run(transition),
      { signed: file.signed, settled, attempt, transitionId },
      { transaction: (guard) => lane.handlerTransaction(guard), timeoutMs: settings.handlerTimeoutMs },
    );
    if (result.ok) result = await release(lane);
    if (!result.ok) return await fail(lane, file, result.error, context);
    if (!(await lane.settle(settlement(file, { settled, digest }, settings.now())))) {
      // A person or another machine was faster, or the expectation is another one now: the effects are undone.
      await lane.rollback();
      return await lane.forgetStart(file.id);
    }
    await lane.commit();
  } catch (error) {
    throw new UnrecordedAttempt(file, error);
  }
  const durationMs = Math.round(performance.now() - started);
  settings.emit({ name: 'transition.settled', transitionId, state: 'settled', attempt, durationMs });
}

function settlement(file: CaseFile, { settled, digest }: Omit<Apply, 'kind'>, now: number): Settlement {
  return {
    transitionId: file.id,
    referenceKey: file.referenceKey,
    subjectKey: file.subjectKey,
    status: JSON.stringify(file.signed.transaction_status),
    settled,
    digest: digest === undefined ? undefined : fromHex(digest),
    now,
  };
}

async function release<Tx>(lane: Lane<Tx>): Promise<{ ok: true } | { ok: false; error: string }> {
  try {
    await lane.releaseSavepoint();
    return { ok: true };
  } catch (error) {
    return { ok: false, error: errorText(error) };
  }
}

async function fail<Tx>(
  lane: Lane<Tx>,
  file: CaseFile,
  error: string,
  context: WorkContext<Tx>,
): Promise<void> {
  await lane.rollbackToSavepoint();
  const event = await recordFailure(file, error, context.settings, outcomeContext(lane, context));
  await lane.commit();
  if (event !== undefined) context.settings.emit(event);
}

/**
 * Counts a failed attempt and decides when the next one is; the transition is `dead` after the last.
 *
 * @returns the event to emit once that is committed; undefined when the attempt was counted before.
 */
export async function recordFailure(
  file: Pick<CaseFile, 'id' | 'attempts'>,
  error: string,
  { retry, random }: Settings,
  outcome: OutcomeContext,
): Promise<InboxEvent | undefined> {
  const attempt = file.attempts + 1;
  const transitionId = hexOf(file.id);
  const delayMs = backoff(attempt, retry, random());
  const isDead = attempt >= retry.attempts;
  const nextAt = isDead ? undefined : outcome.now + delayMs;
  if (!(await markFailed(file, { error, nextAt }, outcome))) return undefined;
  if (isDead) return { name: 'transition.parked', transitionId, state: 'dead', reason: 'attempts_used_up' };
  return { name: 'transition.retrying', transitionId, state: 'retrying', attempt, delayMs };
}

function read<Tx>(lane: Lane<Tx>, id: Uint8Array, { tables }: WorkContext<Tx>): Promise<CaseFile> {
  return readCaseFile(lane.session, tables, id, { isStartCounted: lane.countsAtClaim });
}

function outcomeContext<Tx>({ session }: Lane<Tx>, { tables, settings }: WorkContext<Tx>): OutcomeContext {
  return { session, tables, now: settings.now() };
}
