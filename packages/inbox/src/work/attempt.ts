import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { unsignedFields } from '@payment-service/core';
import { failureCode } from '../events.ts';
import { backoff, type Settings } from '../options.ts';
import type { Statements } from '../store/statements.ts';
import {
  NotPrepared,
  numberOf,
  optionalText,
  type Row,
  type SqlValue,
  type Store,
  type TransactionParts,
  textOf,
} from '../store/store.ts';
import { TransactionEnded } from '../store/transaction-ended.ts';
import { pause, within } from '../time.ts';
import { type CaseFile, caseIn } from './case.ts';
import { evaluate, type Verdict } from './evaluate.ts';
import { findHandler, type Handler, type Handlers } from './handlers.ts';
import { runUntilAnswered, waitForStore } from './until-answered.ts';

export interface WorkContext<Tx> {
  readonly store: Store<Tx>;
  readonly statements: Statements<Tx>;
  readonly settings: Settings;
  readonly handlers: Handlers<Tx>;
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal;
}

/** A due transition, as the index gives it. */
export interface Due {
  readonly id: number;
  readonly transitionId: string;
  readonly nextAt: number;
  readonly subjectKey: string;
  readonly attempts: number;
  /** Earlier starts that no outcome followed: its handler may end the process. */
  readonly unfinished: number;
}

export function dueIn(row: Row): Due {
  return {
    id: numberOf(row, 'id'),
    transitionId: textOf(row, 'transition_id'),
    nextAt: numberOf(row, 'next_at'),
    subjectKey: textOf(row, 'subject_key'),
    attempts: numberOf(row, 'attempts'),
    unfinished: numberOf(row, 'unfinished'),
  };
}

/** How often a transition that waits for an expectation or another body is looked at again: for about 15 minutes. */
const MAX_LOOKS = 10;
/** How long to wait for a reference that another worker has. */
const BUSY_MS = 200;
/** How long to wait before the outcome of a transaction is asked for again. */
const OUTCOME_MS = 20;
const MAX_ERROR_LENGTH = 500;

/** A start that is committed. */
export interface Start {
  /** Tells it from the starts of other workers, and its transaction from others (threat A51). */
  readonly startId: string;
  /** Of the attempt before. */
  readonly lastError: string | undefined;
}

/** How an attempt follows another one, and is followed. */
export interface Turn {
  /** Its start, when the transaction that settled another transition has committed it. */
  readonly start?: Start | undefined;
  /** Takes the transition whose start is committed together with the settlement of this one. */
  takeNext?(): Due | undefined;
}

/** `attempts` is the number of this one. */
type Started = Due &
  Start & {
    /** The number of the transaction in which its handler has begun, on PostgreSQL. */
    transaction?: string;
    /** What its settlement starts. */
    next?: Due & Pick<Start, 'startId'>;
  };

/**
 * What became of an attempt. `undone`: it was taken back, since another worker has the reference or the transition changed;
 * `overtaken`: another process was faster, and it did not start.
 */
export type Outcome = 'settled' | 'parked' | 'retrying' | 'undone' | 'overtaken';

export interface Ended {
  readonly outcome: Outcome;
  /** The committed start of what was taken as the next one. */
  readonly begun?: Start | undefined;
}

/** What is left to do after the transaction, which took so long. */
type Afterwards = (durationMs: number) => Ended | Promise<Ended>;

/**
 * Works on one due transition. The start is committed first, so that it outlives a crash of the process; then the effect
 * and `settled` are one transaction, which also holds the start of the next one (decision D53); a failure rolls that back, and
 * is written outside of it.
 */
export async function attempt<Tx>(due: Due, context: WorkContext<Tx>, turn: Turn = {}): Promise<Ended> {
  const { store, signal } = context;
  if (turn.start !== undefined && signal.aborted) return takeBack(due.id, turn.start.startId, context, 0);
  const start = turn.start ?? (await startAlone(due, context));
  if ('outcome' in start) return start;
  const started: Started = { ...due, ...start, attempts: due.attempts + 1 };
  const began = performance.now();
  let afterwards: Afterwards;
  try {
    const decided = await store.transaction(
      (tx, entered) => decide(started, { ...context, ...turn, entered }, tx),
      partsOf(started, context),
    );
    afterwards = decided ?? (() => takeBack(due.id, start.startId, context));
  } catch (error) {
    afterwards = async () => {
      const failed = await fail(started, error, context);
      // The transaction may be committed although its answer was lost.
      if (started.next) await takeBack(started.next.id, started.next.startId, context, 0);
      return failed;
    };
  }
  return afterwards(Math.round(performance.now() - began));
}

async function startAlone<Tx>(due: Due, context: WorkContext<Tx>): Promise<Start | Ended> {
  const startId = randomUUID();
  try {
    const delayMs = backoff(due.attempts + 1, context.settings);
    const values = [due.id, due.nextAt, delayMs, startId, due.subjectKey];
    const [row] = await context.statements.run('start_attempt', values);
    return row === undefined
      ? { outcome: 'overtaken' }
      : { startId, lastError: optionalText(row, 'last_error') };
  } catch (lost) {
    await waitForStore(lost, 1, context);
    // The start may be committed although its answer was lost: it must not count as a crash.
    return takeBack(due.id, startId, context);
  }
}

/** Undoes the start: the attempt did not take place. */
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
 * not need. What is read then was committed before the lock was free.
 */
function partsOf<Tx>(
  { id, startId, subjectKey }: Started,
  { store, statements, settings }: WorkContext<Tx>,
): TransactionParts {
  const read = { statement: statements.get('read_case'), values: [id] };
  if (store.dialect === 'sqlite') return { entry: [read] };
  const limits = [settings.handlerLockTimeoutMs, settings.handlerTimeoutMs].map(String);
  const enter = { statement: statements.get('enter_attempt'), values: [...limits, startId, subjectKey] };
  return { entry: [enter, read], last: statements.get('settle') };
}

/** @returns undefined when the attempt cannot run now: another worker has the reference, or the transition changed. */
async function decide<Tx>(
  started: Started,
  context: WorkContext<Tx> & Turn & { readonly entered: readonly (readonly Row[])[] },
  tx: Tx,
): Promise<Afterwards | undefined> {
  const { statements, settings, handlers } = context;
  const { id, startId } = started;
  const entered = context.entered.length > 1 ? context.entered[0]?.[0] : undefined;
  if (entered !== undefined && entered['is_free'] !== true) return undefined;
  const file = caseIn(context.entered.at(-1) ?? []);
  if (file?.startId !== startId) return undefined;
  const own = file.isPaidByAnother ? findHandler(handlers, file.signed, true) : undefined;
  const handler = own ?? findHandler(handlers, file.signed, false);
  const handling = { isHandled: handler !== undefined, takesPaidByAnother: own !== undefined };
  const verdict = evaluate(file, settings, handling);
  if (verdict.kind === 'apply') {
    if (entered !== undefined) started.transaction = textOf(entered, 'number');
    return apply(started, { ...verdict, file, handler }, context, tx);
  }
  const { state, reason, isWaiting } = verdict;
  const { transitionId, revision, looks } = file;
  const again = isWaiting && looks < MAX_LOOKS ? backoff(looks + 1, settings) : null;
  const parked = await statements.run('park', [id, revision, state, reason, again, startId], tx);
  // What came meanwhile may change the verdict.
  if (parked.length === 0) return undefined;
  return () => {
    if (looks === 0) settings.emit({ name: 'transition.parked', transitionId, state, reason });
    return { outcome: 'parked' };
  };
}

interface Application<Tx> extends Extract<Verdict, { kind: 'apply' }> {
  readonly file: CaseFile;
  readonly handler: Handler<Tx> | undefined;
}

async function apply<Tx>(
  started: Started,
  { file, handler, settled: expected, digest, isContradicted }: Application<Tx>,
  { statements, settings, takeNext }: WorkContext<Tx> & Turn,
  tx: Tx,
): Promise<Afterwards> {
  const { id, attempts, startId } = started;
  const { transitionId, signed } = file;
  // A body whose text was pruned claims nothing.
  const content = file.bodies.length > 1 ? await readContent(statements, { id, digest }, tx) : file.content;
  const claimed = unsignedFields(content ?? '');
  const settled = expected && Object.freeze({ currency: expected.currency, amount: expected.amount });
  const paidBy = file.isPaidByAnother ? file.expectation?.settledBy : undefined;
  const input = Object.freeze({ tx, signed, settled, claimed, paidBy, attempt: attempts, transitionId });
  const running = Promise.resolve(input).then(handler);
  try {
    await within(settings.handlerTimeoutMs, running, 'The handler did not settle within handlerTimeoutMs.');
  } catch (error) {
    // What it did may be committed although it failed, so it must not run again.
    const own = within(settings.storeTimeoutMs, isOwn(statements, startId, tx));
    if (!(await own.catch(() => true))) throw new TransactionEnded({ cause: error });
    throw error;
  }
  // Their conditions make an effect happen once: a second attempt, on any machine and after any crash, finds them false, and
  // its effects are rolled back.
  if (expected === undefined && file.expectation?.settledBy === undefined) {
    const [known = { settled_by: null }] = await statements.run('lock_expectation', [id], tx);
    if (known['settled_by'] !== null) throw changed();
  }
  const { currency = null, amount = null, compare = null } = expected ?? {};
  // What failed once does not risk to fail again for the sake of the next one.
  const taken = attempts === 1 ? takeNext?.() : undefined;
  const next = taken && { ...taken, startId: randomUUID() };
  if (next !== undefined) started.next = next;
  const start = next
    ? [next.id, next.nextAt, backoff(next.attempts + 1, settings), next.startId, next.subjectKey]
    : NO_START;
  const values = [id, startId, digest, currency, amount, compare, ...start, file.archivedPlace];
  const [row] = await statements.run('settle', values, tx).catch((error: unknown) => {
    throw refusalIn(error);
  });
  if (row === undefined) throw changed();
  const isBegun = next !== undefined && Number(row['begun']) > 0;
  const begun = isBegun ? { startId: next.startId, lastError: optionalText(row, 'begun_error') } : undefined;
  const event = { name: 'transition.settled', transitionId, state: 'settled', attempt: attempts } as const;
  return (durationMs) => {
    settings.emit({ ...event, contradicted: isContradicted, durationMs });
    return { outcome: 'settled', begun };
  };
}

const NO_START: readonly SqlValue[] = [null, null, null, null, null];

function changed(options?: ErrorOptions): Error {
  return new Error(
    'The expectation or the state of this transition changed while its handler ran, so what the handler did was undone. A ' +
      'handler must not change the expectation that it settles.',
    options,
  );
}

/** The statement that settles says by an error why it did not, so that a COMMIT behind it does not run. */
function refusalIn(error: unknown): unknown {
  const text = error instanceof Error ? error.message : '';
  if (text.includes('payment_inbox: ended')) return new TransactionEnded();
  return text.includes('payment_inbox: changed') ? changed() : error;
}

async function readContent<Tx>(
  statements: Statements<Tx>,
  { id, digest }: { readonly id: number; readonly digest: string },
  tx: Tx,
): Promise<string | undefined> {
  const [body] = await statements.run('read_content', [id, digest], tx);
  return body && optionalText(body, 'content');
}

/** False when the handler has ended the transaction: on PostgreSQL its mark is gone, on SQLite the transaction itself. */
async function isOwn<Tx>(statements: Statements<Tx>, mark: string, tx: Tx): Promise<boolean> {
  const rows = await statements.run('is_own_transaction', [mark], tx).catch((error: unknown) => {
    if (failureCode(error) === 'TRANSACTION_ENDED') return [];
    throw error;
  });
  return Boolean(rows[0]?.['is_own']);
}

/**
 * Whether the transaction of an attempt that failed is committed: then its handler has done that. Asked from outside, since it
 * may have no connection any more, or its handler another transaction (threat A50).
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

/** Writes that an attempt failed, which was rolled back, unless its handler has ended its transaction. */
async function fail<Tx>(started: Started, thrown: unknown, context: WorkContext<Tx>): Promise<Ended> {
  const { id, transitionId, attempts, startId, lastError } = started;
  const { settings } = context;
  const isKnown = failureCode(thrown) === 'TRANSACTION_ENDED';
  const isEnded = isKnown || (await isCommitted(started, context));
  // A pooler lost a prepared statement: no failure of the handler.
  if (!isEnded && thrown instanceof NotPrepared) return takeBack(id, startId, context);
  const error = isEnded && !isKnown ? new TransactionEnded({ cause: thrown }) : thrown;
  const usedUp = attempts >= settings.retry.attempts ? 'attempts_used_up' : undefined;
  const reason = isEnded ? 'transaction_ended' : usedUp;
  const delayMs = backoff(attempts, settings);
  const next = reason === undefined ? ['retrying', null, delayMs] : ['dead', reason, null];
  // For the person who looks at the transition. NUL is no text to PostgreSQL.
  const message = error instanceof Error ? `${error.name}: ${error.message}` : inspect(error);
  const text = message.replaceAll('\0', '\uFFFD').slice(0, MAX_ERROR_LENGTH).toWellFormed();
  const [failed] = await runUntilAnswered('fail_attempt', [id, startId, ...next, text], context);
  if (failed === undefined) return { outcome: 'undone' };
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
