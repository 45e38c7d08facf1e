import { ConfigurationError, type SignedFields } from '@payment-service/core';
import { checkOptions, type OptionRule, type OptionRules } from '@payment-service/core/internal';
import type { Spool } from '../intake/spool.ts';
import { DATE, wholeNumber } from '../option-rules.ts';
import { TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import { choiceOf, dateOf, numberOf, optionalText, type Row, textOf } from '../store/store.ts';
import type { WorkContext } from '../work/attempt/turn.ts';
import { type Archived, type ArchiveKeys, findArchived } from '../work/verdict/archived.ts';
import type { KnownExpectation, Settled } from '../work/verdict/evaluate.ts';
import { expectationIn, reasonIn, signedIn } from '../work/verdict/stored.ts';
import { type KeptBody, keptBodyIn } from './kept-body.ts';
import { isListedByChange, type ListOptions, searchFor } from './search.ts';

/** What every view and action needs. */
export interface OperatorContext<Tx> extends Pick<WorkContext<Tx>, 'store' | 'statements' | 'settings'> {
  readonly spool: Spool | undefined;
}

/** One line of a list. No personal data. */
export interface TransitionSummary {
  readonly transitionId: string;
  readonly state: TransitionState;
  readonly reason: TransitionReason | undefined;
  /** The five strings that the signature proves. */
  readonly signed: SignedFields;
  /** The money that it settled, if it is a payment. */
  readonly settled: Settled | undefined;
  /**
   * Moved into the archive by `prune()`: its bodies are gone, its counts are 0, and `firstAt` is the time of its last change.
   */
  readonly isArchived: boolean;
  /** How often a handler was started for it. */
  readonly attempts: number;
  /** Accepted deliveries, across all bodies. */
  readonly deliveries: number;
  /** How many distinct bodies are kept. */
  readonly bodyCount: number;
  /** How many deliveries were not acknowledged because the limit of distinct bodies was reached. */
  readonly refusedBodies: number;
  readonly firstAt: Date;
  readonly changedAt: Date;
  /** When a worker checks it next; undefined if only a person can move it. */
  readonly nextAt: Date | undefined;
  /** The last error of the handler, at most 500 characters; for a database error, without the values that it quotes. */
  readonly lastError: string | undefined;
}

/** A transition with everything that is known about it. The bodies contain personal data. */
export interface TransitionDetails extends TransitionSummary {
  readonly expectation: KnownExpectation | undefined;
  readonly bodies: readonly KeptBody[];
  /** Attempts that failed, the oldest first; the last 20 are kept, until `prune()` or `forget()` removes them. */
  readonly failures: readonly FailedAttempt[];
  /** What people did, the oldest first. */
  readonly actions: readonly OperatorAction[];
}

/** An attempt that failed. */
export interface FailedAttempt {
  /** Its number, from 1; counting restarts when a person retries or reopens the transition. */
  readonly attempt: number;
  /** As `lastError`: at most 500 characters; for a database error, without the values that it quotes. */
  readonly error: string;
  readonly at: Date;
}

const ACTIONS = ['retry', 'resolve', 'reopen', 'statement', 'forget'] as const;

/** What a person did with a transition. */
export interface OperatorAction {
  /** `statement`: `reconcileStatement()` kept a row instead of the callback. */
  readonly action: (typeof ACTIONS)[number];
  /** Who acted, as stated by the application. */
  readonly by: string;
  readonly note: string;
  readonly at: Date;
}

const STRING: OptionRule = [(value) => typeof value === 'string', 'a string'];
const LIST_RULES: OptionRules<ListOptions> = {
  state: [
    (value) => TRANSITION_STATES.some((state) => state === value),
    `one of ${TRANSITION_STATES.join(', ')}`,
  ],
  reason: STRING,
  merchant_reference: STRING,
  internal_reference: STRING,
  since: DATE,
  until: DATE,
  limit: wholeNumber(1000),
  after: [isId, 'a transitionId'],
};

/** @throws {ConfigurationError} Names the option. */
export async function listTransitions<Tx>(
  context: OperatorContext<Tx>,
  options: ListOptions,
  tx?: Tx,
): Promise<TransitionSummary[]> {
  checkOptions('list()', options, LIST_RULES);
  const { statements, settings } = context;
  const { merchant_reference, internal_reference, after } = options;
  const keys = { merchant_reference, internal_reference };
  const isByReference = merchant_reference !== undefined || internal_reference !== undefined;
  const archived = isByReference
    ? (await findArchived(statements, { keys, account: settings.account }, tx)).map(archivedLine)
    : [];
  const [mark] = after === undefined ? [] : await statements.run('find_mark', [after, settings.account], tx);
  const old = archived.find(({ summary }) => summary.transitionId === after);
  const last = mark ? { ...lineAt(mark), dueAt: numberOf(mark, 'due_at') } : old && { ...old, dueAt: 0 };
  if (after !== undefined && last === undefined) return [];
  const rows = await readTransitions(context, options, last, tx);
  const isLater = orderOf(options);
  const lines: Line[] = rows.map((row) => ({ ...lineAt(row), summary: summaryIn(row) }));
  const others = archived.filter(
    (line) => isSelected(line.summary, options) && (last === undefined || isLater(last, line) < 0),
  );
  // Due transitions have an order of their own, and none of them is archived.
  const merged = others.length === 0 ? lines : [...lines, ...others].sort(isLater);
  return merged.slice(0, options.limit ?? 50).flatMap(({ summary }) => summary ?? []);
}

/** Where a transition is in a list. */
interface Line {
  readonly id: number;
  readonly changedAt: number;
  readonly summary?: TransitionSummary;
}

/** Where a page goes on. */
interface Mark extends Line {
  readonly dueAt: number;
}

function lineAt(row: Row): Line {
  return { id: numberOf(row, 'id'), changedAt: numberOf(row, 'changed_at') };
}

function orderOf(options: ListOptions): (one: Line, other: Line) => number {
  const isByChange = isListedByChange(options);
  return (one, other) => (isByChange ? other.changedAt - one.changedAt : 0) || other.id - one.id;
}

/** What the search asks of the other transitions. */
function isSelected(
  given: TransitionSummary | undefined,
  { state, reason, since, until }: ListOptions,
): boolean {
  if (given === undefined) return false;
  const { changedAt } = given;
  return (
    (state ?? given.state) === given.state &&
    (reason ?? given.reason) === given.reason &&
    (since ?? changedAt) <= changedAt &&
    (until === undefined || changedAt < until)
  );
}

function archivedLine({
  id,
  expectation,
  ...known
}: Archived): Line & { readonly summary: TransitionSummary } {
  const { changedAt } = known;
  const settled = expectation && { currency: expectation.currency, amount: expectation.amount };
  const counts = { attempts: 0, deliveries: 0, bodyCount: 0, refusedBodies: 0 };
  const times = { firstAt: changedAt, changedAt, nextAt: undefined, lastError: undefined };
  return {
    id,
    changedAt: changedAt.getTime(),
    summary: { ...known, settled, isArchived: true, ...counts, ...times },
  };
}

export async function showTransition<Tx>(
  context: OperatorContext<Tx>,
  transitionId: string,
): Promise<TransitionDetails | undefined> {
  const { statements, settings } = context;
  const { account } = settings;
  const [row] = await readTransitions(context, { transitionId: checkId(transitionId) });
  const archivedBy = async (keys: ArchiveKeys): Promise<Archived[]> =>
    findArchived(statements, { keys, account });
  if (row === undefined) {
    const [archived] = await archivedBy({ transitionId });
    if (archived === undefined) return undefined;
    return {
      ...archivedLine(archived).summary,
      expectation: archived.expectation,
      bodies: [],
      failures: [],
      actions: (await statements.run('show_actions', [archived.id])).map(actionIn),
    };
  }
  const id = numberOf(row, 'id');
  const bodies = (await statements.run('show_bodies', [id])).map((body) =>
    keptBodyIn(body, transitionId, settings.bodyContent),
  );
  const actions = (await statements.run('show_actions', [id])).map(actionIn);
  const failures = (await statements.run('show_failures', [id])).map((failed) => ({
    attempt: numberOf(failed, 'attempt'),
    error: textOf(failed, 'error'),
    at: dateOf(failed, 'at'),
  }));
  const summary = summaryIn(row);
  const { merchant_reference, transaction_type } = summary.signed;
  const paid = (await archivedBy({ merchant_reference })).find(
    ({ expectation, signed }) => expectation !== undefined && signed.transaction_type === transaction_type,
  );
  return { ...summary, expectation: paid?.expectation ?? expectationIn(row), bodies, failures, actions };
}

async function readTransitions<Tx>(
  { store, statements, settings: { account } }: OperatorContext<Tx>,
  options: ListOptions & { readonly transitionId?: string },
  last?: Mark,
  tx?: Tx,
): Promise<readonly Row[]> {
  const search = searchFor(options, account, last);
  if (search === undefined) return [];
  const { found, order, values } = search;
  const text = statements
    .get('list_transitions')
    .text.replace('{found}', () => found.replace(/\binbox\./g, store.prefix));
  return store.query({ text: text.replace('{order}', order) }, values, tx);
}

function summaryIn(row: Row): TransitionSummary {
  return {
    transitionId: textOf(row, 'transition_id'),
    state: choiceOf(row, 'state', TRANSITION_STATES),
    reason: reasonIn(row, 'reason'),
    signed: signedIn(row),
    settled: settledIn(row),
    isArchived: false,
    attempts: numberOf(row, 'attempts'),
    deliveries: numberOf(row, 'bodies') + numberOf(row, 'repeats'),
    bodyCount: numberOf(row, 'bodies'),
    refusedBodies: numberOf(row, 'refused_bodies'),
    firstAt: dateOf(row, 'first_at'),
    changedAt: dateOf(row, 'changed_at'),
    nextAt: row['next_at'] === null ? undefined : dateOf(row, 'next_at'),
    lastError: optionalText(row, 'last_error'),
  };
}

function settledIn(row: Row): Settled | undefined {
  const expectation = expectationIn(row);
  if (expectation === undefined || expectation.settledBy !== textOf(row, 'transition_id')) return undefined;
  return { currency: expectation.currency, amount: expectation.amount };
}

function actionIn(row: Row): OperatorAction {
  return {
    action: choiceOf(row, 'action', ACTIONS),
    by: textOf(row, 'by_whom'),
    note: textOf(row, 'note'),
    at: dateOf(row, 'at'),
  };
}

/** @throws {ConfigurationError} If it is not the id of a transition. */
export function checkId(transitionId: unknown): string {
  if (isId(transitionId)) return transitionId;
  throw new ConfigurationError('transitionId', 'A transitionId must have 64 lower-case hexadecimal digits.');
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}
