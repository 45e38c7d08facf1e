import { hash } from 'node:crypto';
import type { SignedFields } from '@payment-service/core';
import { checkArgument, checkOptions, type OptionRules } from '@payment-service/core/internal';
import { type BodyContent, isSealed } from '../delivery/stored-delivery.ts';
import type { Spool } from '../intake/spool.ts';
import { oneOf, STRING, TRANSITION_ID } from '../option-rules.ts';
import { TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import { choiceOf, dateOf, numberOf, optionalText, type Row, textOf } from '../store/store.ts';
import { type Archived, type ArchiveKeys, findArchived } from '../verdict/archived.ts';
import type { Claims, ExpectedMoney, KnownExpectation, Settled, StoredClaim } from '../verdict/evaluate.ts';
import { findArchivedReports } from '../verdict/restate.ts';
import { bodyIn, claimsIn, expectationIn, reasonIn, signedIn } from '../verdict/stored-values.ts';
import type { WorkContext } from '../work/attempt/attempt-stages.ts';
import { actionIn, type OperatorAction } from './acts/action-log.ts';
import { isListedByChange, LIST_RULES, type ListOptions, readTransitions } from './search.ts';

/** What every view and action needs. */
export interface OperatorContext<Tx> extends Pick<WorkContext<Tx>, 'store' | 'statements' | 'settings'> {
  readonly spool: Spool | undefined;
}

/** One line of a list. No personal data. */
export interface TransitionSummary {
  readonly transitionId: string;
  /**
   * Changes with everything that an operator sees of it: its state, its bodies, and what is expected. Every act carries it. Opaque.
   */
  readonly revision: string;
  readonly state: TransitionState;
  readonly reason: TransitionReason | undefined;
  /** The five strings that the signature proves. */
  readonly signed: SignedFields;
  /** The money that it settled, if it is a payment. */
  readonly settled: Settled | undefined;
  /** What you expect under its reference. */
  readonly expected: ExpectedMoney | undefined;
  /** What the body claims that settled it, or else the first one. Not signed. Undefined in the archive. */
  readonly claims: Claims | undefined;
  /** The provider_code of that body. Not signed. */
  readonly provider: string | undefined;
  /**
   * Moved into the archive by `prune()`: its bodies are gone, its counts are 0, and `firstAt` is the time of its last change.
   */
  readonly isArchived: boolean;
  /** At any time, even if it was closed since. */
  readonly wasApplied: boolean;
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
  /** When a worker checks it next; undefined if only an operator can move it. */
  readonly nextAt: Date | undefined;
  /** The last error of the handler, at most 500 characters; for a database error, without the values that it quotes. */
  readonly lastError: string | undefined;
}

/** One distinct body of a transition. */
export interface KeptBody {
  /**
   * Distinguishes the bodies of a transition, in 64 hexadecimal digits: SHA-256 of the body; with `bodies: 'claims'`, with
   * `encryption` and after `forget()`, of what the body claims about money and of the signed fields.
   */
  readonly digest: string;
  /**
   * The JSON text, unchanged, or serialised again if a body parser read it first; with `bodies: 'claims'`, a JSON text of the
   * amounts only. Undefined after `prune()` and `forget()`, and if `isSealed` is true.
   */
  readonly text: string | undefined;
  /** The content exists but cannot be opened: its key is missing, or it belongs to another row. */
  readonly isSealed: boolean;
  /** It is not encrypted, although `encryption` is set or another body here is: it is older, or another program wrote it. */
  readonly isUnsealed: boolean;
  /** What it claims about money. */
  readonly request: StoredClaim;
  readonly transaction: StoredClaim;
  readonly deliveries: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly keyId: string;
  /** The rule that refused it, if it is evidence. */
  readonly refusal: string | undefined;
  /** The trace of its first request, if it had one (W3C Trace Context): finds the request in a tracing tool. */
  readonly traceparent: string | undefined;
  /** Whether it is the one that equalled the expectation when the transition was settled. */
  readonly isSettled: boolean;
}

/** A transition with everything that is known about it. The bodies contain personal data. */
export interface TransitionDetails extends TransitionSummary {
  readonly expectation: KnownExpectation | undefined;
  readonly bodies: readonly KeptBody[];
  /** Attempts that failed, the oldest first; the last 20 are kept, until `prune()` or `forget()` removes them. */
  readonly failures: readonly FailedAttempt[];
  /** What operators did, the oldest first. */
  readonly actions: readonly OperatorAction[];
}

/** An attempt that failed. */
export interface FailedAttempt {
  /** Its number, from 1; counting restarts when an operator retries the report or applies it. */
  readonly attempt: number;
  /** As `lastError`: at most 500 characters; for a database error, without the values that it quotes. */
  readonly error: string;
  readonly at: Date;
}

const REPORT_RULES: OptionRules<ListOptions> = {
  ...LIST_RULES,
  state: oneOf(TRANSITION_STATES),
  merchant_reference: STRING,
  internal_reference: STRING,
  after: TRANSITION_ID,
};

/** Where a transition is in a list. */
type Place = Pick<Archived, 'id' | 'changedAt'>;

/** A report as it was read. */
interface Found extends Place {
  readonly summary: TransitionSummary;
  readonly expectation: KnownExpectation | undefined;
  /** Its row of list_transitions; undefined if it is archived. */
  readonly row: Row | undefined;
}

/** @throws {ConfigurationError} Names the option. */
export async function listTransitions<Tx>(
  context: OperatorContext<Tx>,
  options: ListOptions,
): Promise<TransitionSummary[]> {
  checkOptions('reports()', options, REPORT_RULES);
  return (await findReports(context, options)).map(({ summary }) => summary);
}

/** Those that wait or are kept, and those of the archive if the search names one. */
export async function findReports<Tx>(
  context: OperatorContext<Tx>,
  options: ListOptions & Pick<ArchiveKeys, 'transitionId'>,
  tx?: Tx,
): Promise<Found[]> {
  const { statements, settings } = context;
  const { transitionId, merchant_reference, internal_reference, after, limit = 50 } = options;
  const keys = { transitionId, merchant_reference, internal_reference };
  const isNamed = Object.values(keys).some((key) => key !== undefined);
  const old = isNamed ? await findArchived(statements, { keys, account: settings.account }, tx) : [];
  const [row] = after === undefined ? [] : await statements.run('find_mark', [after, settings.account], tx);
  const mark = row ? placeIn(row) : old.find((each) => each.transitionId === after);
  if (after !== undefined && mark === undefined) return [];
  const last = mark && { ...mark, dueAt: row ? numberOf(row, 'due_at') : 0 };
  const rows = await readTransitions(context, options, last, tx);
  const found = rows.map((each) => ({
    ...placeIn(each),
    row: each,
    summary: summaryIn(each),
    expectation: expectationIn(each),
  }));
  const others = old
    .filter((one) => isSelected(one, options) && (mark === undefined || compare(options, mark, one) < 0))
    .map((one) => ({ ...one, summary: archivedSummary(one), row: undefined }));
  // Due transitions have an order of their own, and none of them is archived.
  if (others.length === 0 && options.state !== undefined) return found;
  return [...found, ...others].sort((one, other) => compare(options, one, other)).slice(0, limit);
}

const placeIn = (row: Row): Place => ({ id: numberOf(row, 'id'), changedAt: dateOf(row, 'changed_at') });

/** The order of a list, newest first. */
const compare = (options: ListOptions, one: Place, other: Place): number =>
  (isListedByChange(options) ? Number(other.changedAt) - Number(one.changedAt) : 0) || other.id - one.id;

/** The conditions of the search, for transitions that it does not read. */
const isSelected = (found: Archived, { state, reason, since, until }: ListOptions): boolean =>
  (state ?? found.state) === found.state &&
  (reason ?? found.reason) === found.reason &&
  (since ?? found.changedAt) <= found.changedAt &&
  (until === undefined || found.changedAt < until);

/** What the archive does not have. */
const GONE = {
  ...{ revision: 'archived', claims: undefined, provider: undefined, isArchived: true, attempts: 0 },
  ...{ deliveries: 0, bodyCount: 0, refusedBodies: 0, nextAt: undefined, lastError: undefined },
} as const;

function archivedSummary({ id: _, applied: _a, expectation, ...known }: Archived): TransitionSummary {
  const { state, changedAt: firstAt } = known;
  return { ...known, ...GONE, ...moneyOf(expectation, true), wasApplied: state === 'settled', firstAt };
}

/** What is expected, and what was settled if this report has settled it. */
function moneyOf(
  known: KnownExpectation | undefined,
  isSettled: boolean,
): Pick<TransitionSummary, 'settled' | 'expected'> {
  if (known === undefined) return { settled: undefined, expected: undefined };
  const { currency, amount, compare } = known;
  return { settled: isSettled ? { currency, amount } : undefined, expected: { currency, amount, compare } };
}

export async function showTransition<Tx>(
  context: OperatorContext<Tx>,
  transitionId: string,
): Promise<TransitionDetails | undefined> {
  const { statements, settings } = context;
  checkArgument('report()', 'transitionId', transitionId, TRANSITION_ID);
  const [found] = await findReports(context, { transitionId });
  if (found === undefined) return undefined;
  const { id, row, summary } = found;
  const { merchant_reference, transaction_type } = summary.signed;
  const key = { merchant_reference, transaction_type, account: settings.account };
  const paid = row && (await findArchivedReports(statements, key)).find(({ expectation }) => expectation);
  return {
    ...summary,
    expectation: paid?.expectation ?? found.expectation,
    bodies: row ? await readBodies(context, row) : [],
    failures: (await statements.run('show_failures', [id])).map((failed) => ({
      attempt: numberOf(failed, 'attempt'),
      error: textOf(failed, 'error'),
      at: dateOf(failed, 'at'),
    })),
    actions: (await statements.run('show_actions', [id])).map(actionIn),
  };
}

/** The bodies of a row of list_transitions. */
export async function readBodies<Tx>(
  { statements, settings: { bodyContent } }: OperatorContext<Tx>,
  row: Row,
  tx?: Tx,
): Promise<KeptBody[]> {
  const transitionId = textOf(row, 'transition_id');
  const rows = await statements.run('show_bodies', [numberOf(row, 'id')], tx);
  const isEncrypted = bodyContent.isEncrypted || rows.some((body) => isSealed(optionalText(body, 'content')));
  return rows.map((body) => keptBodyIn(body, transitionId, bodyContent, isEncrypted));
}

function summaryIn(row: Row): TransitionSummary {
  const transitionId = textOf(row, 'transition_id');
  const known = expectationIn(row);
  return {
    transitionId,
    revision: revisionOf(row),
    state: choiceOf(row, 'state', TRANSITION_STATES),
    reason: reasonIn(row, 'reason'),
    signed: signedIn(row),
    ...moneyOf(known, known?.settledBy === transitionId),
    claims: row['claims'] === null ? undefined : claimsIn(row),
    provider: optionalText(row, 'provider'),
    isArchived: false,
    wasApplied: numberOf(row, 'was_applied') === 1,
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

/** Of a row of list_transitions: a digest of what an operator decides on. A kept body and every act raise the column. */
function revisionOf(row: Row): string {
  const money = ['currency', 'amount', 'compare', 'replaced', 'settled_by'];
  const seen = ['revision', 'state', 'reason', 'changed_at', ...money].map((name) => String(row[name]));
  return hash('sha256', JSON.stringify(seen)).slice(0, 16);
}

/** Of a row of show_bodies. */
function keptBodyIn(row: Row, transitionId: string, bodies: BodyContent, isEncrypted: boolean): KeptBody {
  const body = bodyIn(row);
  const content = optionalText(row, 'content');
  const text = bodies.open(content, { transitionId, digest: body.digest });
  return {
    ...body,
    text,
    isSealed: isSealed(content) && text === undefined,
    isUnsealed: isEncrypted && content !== undefined && !isSealed(content),
    deliveries: 1 + numberOf(row, 'repeats'),
    firstAt: dateOf(row, 'first_at'),
    lastAt: dateOf(row, 'last_at'),
    keyId: textOf(row, 'key_id'),
    refusal: reasonIn(row, 'refusal'),
    traceparent: optionalText(row, 'traceparent'),
    isSettled: body.digest === optionalText(row, 'settled_digest'),
  };
}
