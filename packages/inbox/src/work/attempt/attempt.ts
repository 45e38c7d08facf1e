import { randomUUID } from 'node:crypto';
import type { SignedFields } from '@payment-service/core';
import { sumOfProducts } from '@payment-service/core/reconcile';
import { isUnambiguous } from '../../delivery/stored-delivery.ts';
import { backoff, LOOKS } from '../../options.ts';
import { failureCode } from '../../reporting/events.ts';
import { codesOf, failureText } from '../../reporting/failure-text.ts';
import {
  NotPrepared,
  optionalText,
  type Row,
  type SqlValue,
  TransactionEnded,
  type TransactionParts,
  textOf,
} from '../../store/store.ts';
import { pause } from '../../time.ts';
import { type CaseFile, caseValues, completeCase } from '../../verdict/case-file.ts';
import { evaluate } from '../../verdict/evaluate.ts';
import { lockPayment, restate } from '../../verdict/restate.ts';
import { apply } from './apply.ts';
import type { Afterwards, Due, Ended, Start, Started, Turn, WorkContext } from './attempt-stages.ts';
import { findHandler } from './handlers.ts';
import { runUntilAnswered, untilAnswered, waitForStore } from './until-answered.ts';

/** How long to wait for a reference that another worker holds. */
const BUSY_MS = 200;
/** How long to wait before asking again for the outcome of a transaction. */
const OUTCOME_MS = 20;
const MAX_ERROR_LENGTH = 500;
/** The merchant's transaction states what the payment must be, or an operator acts on it: its verdict may change with that. */
class Busy extends Error {}
/** Serialization failure, deadlock, and both of Prisma. */
const CONFLICTS: readonly unknown[] = ['40001', '40P01', 'P2034'];
/** After so many conflicts in a row, the attempt counts as failed. */
const MAX_CONFLICTS = 20;
const MAX_CONFLICT_PAUSE_MS = 200;

/**
 * Works on one due transition. The start is committed first, so that it survives a crash of the process. The effect and
 * `settled` are then one transaction, which also contains the start of the next transition (decision D53); a failure rolls that
 * back and is recorded outside it.
 */
export async function attempt<Tx>(due: Due, context: WorkContext<Tx>, turn: Turn = {}): Promise<Ended> {
  const { store, signal } = context;
  if (turn.start !== undefined && signal.aborted) return takeBack(due.id, turn.start.startId, context, 0);
  const start = turn.start ?? (await startAlone(due, context));
  if ('outcome' in start) return start;
  const began = performance.now();
  let afterwards: Afterwards | undefined;
  for (let conflicts = 0; afterwards === undefined; conflicts += 1) {
    const started: Started = { ...due, ...start, attempts: due.attempts + 1 };
    // After a failure, it does not risk another one just to start the next transition.
    const own = conflicts === 0 ? turn : {};
    try {
      const decided = await store.transaction(
        (tx, entered) => decide(started, { ...context, ...own, entered }, tx),
        partsOf(started, context),
      );
      afterwards = decided ?? (() => takeBack(due.id, start.startId, context));
    } catch (error) {
      if (error instanceof Busy) return takeBack(due.id, start.startId, context);
      const mayRepeat = conflicts < MAX_CONFLICTS && !signal.aborted && isConflict(error);
      if (mayRepeat && !(await isCommitted(started, context))) {
        await takeBackNext(started, context);
        await pause(context.settings.random() * Math.min(2 ** conflicts, MAX_CONFLICT_PAUSE_MS), signal);
        continue;
      }
      afterwards = async (durationMs) => {
        const failed = await fail(started, error, context, durationMs);
        await takeBackNext(started, context);
        return failed;
      };
    }
  }
  return afterwards(Math.round(performance.now() - began));
}

/** The transaction that started the next one may be committed although its reply was lost. */
async function takeBackNext<Tx>(started: Started, context: WorkContext<Tx>): Promise<void> {
  const { next } = started;
  started.next = undefined;
  if (next !== undefined) await takeBack(next.id, next.startId, context, 0);
}

/**
 * Another transaction was faster, at an isolation level that reports it, or the two waited for each other: PostgreSQL has undone
 * this one and asks to repeat it. It is no failure of the handler.
 */
function isConflict(error: unknown): boolean {
  return codesOf(error).some((code) => CONFLICTS.includes(code));
}

async function startAlone<Tx>(due: Due, context: WorkContext<Tx>): Promise<Start | Ended> {
  const startId = randomUUID();
  try {
    const delayMs = backoff(due.attempts + 1, context.settings);
    const values = [due.id, due.nextAt, delayMs, startId, due.subjectKey, due.attempts];
    const kind = due.attempts === 0 ? 'unsynced' : 'synced';
    const [row] = await context.statements.run(`start_attempt of ${kind}`, values);
    return row === undefined
      ? { outcome: 'overtaken' }
      : { startId, lastError: optionalText(row, 'last_error') };
  } catch (lost) {
    await waitForStore(lost, 1, context);
    // The start may be committed although its reply was lost: it must not count as a crash.
    return takeBack(due.id, startId, context);
  }
}

/** Undoes the start: there was no attempt. */
async function takeBack<Tx>(
  id: number,
  startId: string,
  context: WorkContext<Tx>,
  delayMs = BUSY_MS,
): Promise<Ended> {
  await runUntilAnswered('take_back', [id, startId, delayMs], context);
  return { outcome: 'undone' };
}

/**
 * First the limits of the transaction, its mark, and the lock of the internal_reference, which SQLite with its one writer does
 * not need. Everything read after it was committed before the lock was released.
 */
function partsOf<Tx>(
  { id, startId, subjectKey, signed }: Started,
  { store, statements, settings }: WorkContext<Tx>,
): TransactionParts {
  const read = { statement: statements.get('read_case'), values: caseValues(id, signed) };
  if (store.dialect === 'sqlite') return { entry: [read], isMerchants: true };
  const limits = [settings.handlerLockTimeoutMs, settings.handlerTimeoutMs].map(String);
  const enter = { statement: statements.get('enter_attempt'), values: [...limits, startId, subjectKey] };
  return { entry: [enter, read], isMerchants: true };
}

/** @returns undefined if the attempt cannot run now: another worker has the reference, or the transition changed. */
async function decide<Tx>(
  started: Started,
  context: WorkContext<Tx> & Turn & { readonly entered: readonly (readonly Row[])[] },
  tx: Tx,
): Promise<Afterwards | undefined> {
  const { statements, settings, handlers } = context;
  const { id, startId } = started;
  const entered = context.entered.length > 1 ? context.entered[0]?.[0] : undefined;
  if (entered !== undefined && Number(entered['is_free']) !== 1) return undefined;
  const rows = context.entered.at(-1) ?? [];
  // The archive was searched for the references that were read with the due transition.
  if (rows[0]?.['start_id'] !== startId || rows[0]['signed'] !== started.signed) return undefined;
  const read = await completeCase(statements, rows, tx);
  if (read === undefined) return undefined;
  const file = await withOrder(read, context, tx);
  context.onCase?.(file);
  started.read = file;
  const handler = findHandler(handlers, file.signed, settings);
  const verdict = evaluate(file, settings, handler !== undefined);
  const number = entered && textOf(entered, 'number');
  if (verdict.kind === 'apply') {
    started.transaction = number;
    return apply(started, { ...verdict, file, handler }, context, tx);
  }
  const { state, reason, isWaiting } = verdict;
  const { transitionId, revision, looks } = file;
  const again =
    isWaiting && looks < LOOKS.attempts ? backoff(looks + 1, { ...settings, retry: LOOKS }) : null;
  const payment = { ...file.signed, account: settings.account };
  const isOwnPayment = file.bodies.length > 0 || file.refusals.every(isUnambiguous);
  const values: SqlValue[] = [id, revision, state, reason, again, startId];
  const park = async (): Promise<boolean> => {
    if (context.store.dialect === 'postgres') await statements.run('lock_briefly', [], tx);
    if (isOwnPayment) await lockPayment(statements, payment, tx);
    // A body or expectation that arrived meanwhile may change the verdict.
    if ((await statements.run('park', values, tx)).length === 0) return false;
    if (isOwnPayment) await restate(statements, payment, tx);
    return true;
  };
  const isParked = await park().catch((error: unknown) => {
    throw codesOf(error).includes('55P03')
      ? new Busy('The payment is held by another transaction.', { cause: error })
      : error;
  });
  if (!isParked) return undefined;
  started.transaction = number;
  started.parked = () => {
    if (looks === 0) settings.emit({ name: 'transition.parked', transitionId, state, reason });
    return { outcome: 'parked' };
  };
  return started.parked;
}

/** Adds how much of its order is paid, which nothing changes until the transaction ends. */
async function withOrder<Tx>(
  file: CaseFile,
  { store, statements, settings: { account } }: WorkContext<Tx>,
  tx: Tx,
): Promise<CaseFile> {
  const { expectation, referenceKey: key, signed } = file;
  const isDue = signed.transaction_status === 'COMPLETED' && expectation?.settledBy === undefined;
  if (!isDue || expectation?.order === undefined) return file;
  const { id } = expectation.order;
  if (store.dialect === 'postgres') await statements.run('lock_order', [account, id], tx);
  const type = JSON.stringify(signed.transaction_type);
  const rows = await statements.run('read_order', [account, id, expectation.currency, key, type], tx);
  return { ...file, orderPaid: sumOfProducts(rows.map((row) => [textOf(row, 'amount'), 1])) };
}

/**
 * Whether the transaction of a failed attempt is committed: by its handler, or by a COMMIT whose reply was lost. Read from
 * outside, since the attempt may have lost its connection, or its handler may have begun another transaction (threat A50).
 */
async function isCommitted<Tx>({ transaction }: Started, context: WorkContext<Tx>): Promise<boolean> {
  if (transaction === undefined) return false;
  const until = performance.now() + context.settings.storeTimeoutMs;
  for (;;) {
    const [row] = await runUntilAnswered('read_outcome', [transaction], context);
    if (row?.['status'] !== 'in progress' || performance.now() > until)
      return row?.['status'] === 'committed';
    await pause(OUTCOME_MS, context.signal);
  }
}

/**
 * Records a failed attempt, which was rolled back unless its handler has ended its transaction. Tells the outcome of one that
 * was committed although the reply was lost (threat A77).
 */
async function fail<Tx>(
  started: Started,
  thrown: unknown,
  context: WorkContext<Tx>,
  durationMs: number,
): Promise<Ended> {
  const { id, nextAt, transitionId, attempts, startId, lastError, read, settled, parked } = started;
  const { settings } = context;
  const isKnown = failureCode(thrown) === 'TRANSACTION_ENDED';
  const isEnded = isKnown || (await isCommitted(started, context));
  if (isEnded && !isKnown && parked !== undefined) return parked(durationMs);
  // A pooler lost a prepared statement, which is not a failure of the handler.
  if (!isEnded && thrown instanceof NotPrepared) return takeBack(id, startId, context);
  const error = isEnded && !isKnown ? new TransactionEnded({ cause: thrown }) : thrown;
  const usedUp = attempts >= settings.retry.attempts ? 'attempts_used_up' : undefined;
  const reason = isEnded ? 'transaction_ended' : usedUp;
  const delayMs = backoff(attempts, settings);
  const next = reason === undefined ? ['retrying', null, delayMs] : ['dead', reason, null];
  // For the operator who reviews the transition. PostgreSQL's text cannot contain NUL.
  const text = failureText(error).replaceAll('\0', '\uFFFD').slice(0, MAX_ERROR_LENGTH).toWellFormed();
  const values = [id, startId, ...next, text, attempts, nextAt];
  // The state of its payment changes only if a person must look at it from now on, or no longer.
  const isRestated = reason !== undefined || read?.isNeeded;
  const [failed] = isRestated
    ? await untilAnswered(context, () => failAndRestate(read?.signed, values, context))
    : await runUntilAnswered('fail_attempt', values, context);
  if (failed === undefined) {
    const found = settled === undefined ? [] : await runUntilAnswered('find_settled', [id, startId], context);
    return settled !== undefined && found.length > 0 ? settled(durationMs) : { outcome: 'undone' };
  }
  const common = { transitionId, attempt: attempts };
  if (reason === undefined) {
    const failure = failureCode(error);
    settings.emit({ name: 'transition.retrying', state: 'retrying', failure, delayMs, ...common });
    const isRepeated = attempts > 1 && text === lastError;
    settings.report(error, {
      kind: 'attempt_failed',
      state: 'retrying',
      reason,
      delayMs,
      isRepeated,
      ...common,
    });
    return { outcome: 'retrying' };
  }
  settings.emit({ name: 'transition.parked', transitionId, state: 'dead', reason });
  const ended = { state: 'dead', reason, delayMs: undefined, isRepeated: false } as const;
  settings.report(error, { kind: 'attempt_failed', ...ended, ...common });
  return { outcome: 'parked' };
}

/** The state of its payment is kept in the same transaction, unless the signed fields of the report are damaged. */
function failAndRestate<Tx>(
  signed: SignedFields | undefined,
  values: readonly SqlValue[],
  { statements, settings }: WorkContext<Tx>,
): Promise<readonly Row[]> {
  const payment = signed && { ...signed, account: settings.account };
  return statements.limited(settings.storeTimeoutMs, async (tx) => {
    if (payment !== undefined) await lockPayment(statements, payment, tx);
    const failed = await statements.run('fail_attempt', values, tx);
    if (failed.length > 0 && payment !== undefined) await restate(statements, payment, tx);
    return failed;
  });
}
