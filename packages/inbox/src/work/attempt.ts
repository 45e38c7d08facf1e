import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { unsignedFields } from '@payment-service/core';
import { failureCode } from '../events.ts';
import { backoff, type Settings } from '../options.ts';
import type { Statements } from '../store/statements.ts';
import {
  type Call,
  NotPrepared,
  numberOf,
  optionalText,
  type Row,
  type Store,
  textOf,
} from '../store/store.ts';
import { TransactionEnded } from '../store/transaction-ended.ts';
import { pause, within } from '../time.ts';
import { type CaseFile, readCase } from './case.ts';
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

/** Its start is committed: `attempts` is the number of this one. */
type Started = Due & {
  /** Tells it from the starts of other workers, and its transaction from others (threat A51). */
  readonly startId: string;
  /** Of the attempt before. */
  readonly lastError: string | undefined;
  /** The number of the transaction in which its handler has begun, on PostgreSQL. */
  transaction?: string;
};

/**
 * What became of an attempt. `undone`: it was taken back, since another worker has the reference or the transition changed;
 * `overtaken`: another process was faster, and it did not start.
 */
export type Outcome = 'settled' | 'parked' | 'retrying' | 'undone' | 'overtaken';

/** What is left to do after the transaction, which took so long. */
type Afterwards = (durationMs: number) => Outcome | Promise<Outcome>;

/**
 * Works on one due transition. The start is committed first, so that it outlives a crash of the process; then the effect
 * and `settled` are one transaction; a failure rolls that back, and is written outside of it.
 */
export async function attempt<Tx>(due: Due, context: WorkContext<Tx>): Promise<Outcome> {
  const { store, statements, settings } = context;
  const attempts = due.attempts + 1;
  const startId = randomUUID();
  let row: Row | undefined;
  try {
    const delayMs = backoff(attempts, settings);
    const values = [due.id, due.nextAt, delayMs, startId, due.subjectKey];
    [row] = await statements.run('start_attempt', values);
    if (row === undefined) return 'overtaken';
  } catch (lost) {
    await waitForStore(lost, 1, context);
    // The start may be committed although its answer was lost: it must not count as a crash.
    return takeBack(due.id, startId, context);
  }
  const lastError = optionalText(row, 'last_error');
  const started = { ...due, attempts, lastError, startId };
  const began = performance.now();
  let afterwards: Afterwards;
  try {
    const decided = await store.transaction(
      (tx, [entered]) => decide(started, { ...context, entered }, tx),
      entryOf(started, context),
    );
    afterwards = decided ?? (() => takeBack(due.id, startId, context));
  } catch (error) {
    afterwards = () => fail(started, error, context);
  }
  return afterwards(Math.round(performance.now() - began));
}

/** Undoes the start: the attempt did not take place. */
async function takeBack<Tx>(id: number, startId: string, context: WorkContext<Tx>): Promise<Outcome> {
  await runUntilAnswered('take_back', [id, startId, BUSY_MS], context);
  return 'undone';
}

/** The limits of the transaction, its mark, and the lock of the internal_reference. SQLite has one writer, and needs none. */
function entryOf<Tx>(
  { startId, subjectKey }: Started,
  { store, statements, settings }: WorkContext<Tx>,
): Call | undefined {
  if (store.dialect === 'sqlite') return undefined;
  const limits = [settings.handlerLockTimeoutMs, settings.handlerTimeoutMs].map(String);
  return { statement: statements.get('enter_attempt'), values: [...limits, startId, subjectKey] };
}

/** @returns undefined when the attempt cannot run now: another worker has the reference, or the transition changed. */
async function decide<Tx>(
  started: Started,
  context: WorkContext<Tx> & { readonly entered: Row | undefined },
  tx: Tx,
): Promise<Afterwards | undefined> {
  const { store, statements, settings, handlers, entered } = context;
  const { id, startId } = started;
  if (store.dialect === 'postgres' && entered?.['is_free'] !== true) return undefined;
  const file = await readCase(statements, id, tx);
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
    return 'parked';
  };
}

interface Application<Tx> extends Extract<Verdict, { kind: 'apply' }> {
  readonly file: CaseFile;
  readonly handler: Handler<Tx> | undefined;
}

async function apply<Tx>(
  { id, attempts, startId }: Started,
  { file, handler, settled: expected, digest, isContradicted }: Application<Tx>,
  { statements, settings }: WorkContext<Tx>,
  tx: Tx,
): Promise<Afterwards> {
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
  const check = (isSame: boolean): void => {
    if (isSame) return;
    throw new Error(
      'The expectation or the state of this transition changed while its handler ran, so what the handler did was undone. A ' +
        'handler must not change the expectation that it settles.',
    );
  };
  if (expected === undefined) {
    const [known = { settled_by: null }] = await statements.run('lock_expectation', [id], tx);
    check(optionalText(known, 'settled_by') === file.expectation?.settledBy);
  }
  const { currency = null, amount = null, compare = null } = expected ?? {};
  const [row = {}] = await statements.run('settle', [id, startId, digest, currency, amount, compare], tx);
  if (row['is_own'] === false) throw new TransactionEnded();
  check(Number(row['settled'] ?? 0) > 0);
  const event = { name: 'transition.settled', transitionId, state: 'settled', attempt: attempts } as const;
  return (durationMs) => {
    settings.emit({ ...event, contradicted: isContradicted, durationMs });
    return 'settled';
  };
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
async function fail<Tx>(started: Started, thrown: unknown, context: WorkContext<Tx>): Promise<Outcome> {
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
  if (failed === undefined) return 'undone';
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
    return 'retrying';
  }
  settings.emit({ name: 'transition.parked', transitionId, state: 'dead', reason });
  const ended = { state: 'dead', reason, delayMs: undefined, isRepeated: false } as const;
  settings.report(error, { kind: 'attempt_failed', ...ended, ...common });
  return 'parked';
}
