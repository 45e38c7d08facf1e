import { ConfigurationError, type SignedFields } from '@payment-service/core';
import { checkOptions, type OptionRule, type OptionRules } from '@payment-service/core/receive';
import type { Spool } from '../intake/spool.ts';
import { DATE, wholeNumber } from '../options.ts';
import { TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import { choiceOf, dateOf, numberOf, optionalText, type Row, textOf } from '../store/store.ts';
import type { WorkContext } from '../work/attempt.ts';
import type { KnownExpectation, StoredClaim } from '../work/evaluate.ts';
import { bodyIn, expectationIn, reasonIn, signedIn } from '../work/stored.ts';
import { searchFor } from './search.ts';

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
  /** How often a handler was started for it. */
  readonly attempts: number;
  /** How often it came, all of its bodies together, without those that were refused. */
  readonly deliveries: number;
  /** How many distinct bodies are kept. */
  readonly bodyCount: number;
  /** How many deliveries were not acknowledged, since as many distinct bodies as are kept were there. */
  readonly refusedBodies: number;
  readonly firstAt: Date;
  readonly changedAt: Date;
  /** When a worker looks at it next; undefined when only a person moves it. */
  readonly nextAt: Date | undefined;
  /** What the handler threw last, at most 500 characters. */
  readonly lastError: string | undefined;
}

/** A transition with all that is known of it. Personal data is in the bodies. */
export interface TransitionDetails extends TransitionSummary {
  readonly expectation: KnownExpectation | undefined;
  readonly bodies: readonly KeptBody[];
  /** What people did, the oldest first. */
  readonly actions: readonly OperatorAction[];
}

/** One distinct body of a transition. */
export interface KeptBody {
  /** SHA-256 of the body, 64 hexadecimal digits. */
  readonly digest: string;
  /** The JSON text, unchanged, or serialised again where a body parser read it first; undefined after `prune()`. */
  readonly text: string | undefined;
  /** What it claims about money. */
  readonly request: StoredClaim;
  readonly transaction: StoredClaim;
  readonly deliveries: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly keyId: string;
  /** The rule that refused it, if it is evidence. */
  readonly refusal: string | undefined;
  /** Whether it is the one that equalled the expectation when the transition was settled. */
  readonly isSettled: boolean;
}

/** What a person did with a transition. */
export interface OperatorAction {
  readonly action: 'retry' | 'resolve' | 'reopen';
  /** Who, as the application said. */
  readonly by: string;
  readonly note: string;
  readonly at: Date;
}

export interface ListOptions {
  readonly state?: TransitionState | undefined;
  readonly reason?: TransitionReason | undefined;
  /** Exactly this signed field. */
  readonly merchant_reference?: string | undefined;
  /** Exactly this signed field. */
  readonly internal_reference?: string | undefined;
  /** Changed at or after this moment. */
  readonly since?: Date | undefined;
  /** Changed before this moment. */
  readonly until?: Date | undefined;
  /** At most 1000. @default 50 */
  readonly limit?: number | undefined;
  /** The last transitionId of the page before, under the same options. */
  readonly after?: string | undefined;
}

const TEXT: OptionRule = [(value) => typeof value === 'string', 'a string'];
const LIST_RULES: OptionRules<ListOptions> = {
  state: [
    (value) => TRANSITION_STATES.some((state) => state === value),
    `one of ${TRANSITION_STATES.join(', ')}`,
  ],
  reason: TEXT,
  merchant_reference: TEXT,
  internal_reference: TEXT,
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
  return (await readTransitions(context, options, tx)).map(summaryIn);
}

export async function showTransition<Tx>(
  context: OperatorContext<Tx>,
  transitionId: string,
): Promise<TransitionDetails | undefined> {
  const [row] = await readTransitions(context, { transitionId: checkId(transitionId) });
  if (row === undefined) return undefined;
  const id = numberOf(row, 'id');
  const bodies = (await context.statements.run('show_bodies', [id])).map(keptBodyIn);
  const actions = (await context.statements.run('show_actions', [id])).map(actionIn);
  return { ...summaryIn(row), expectation: expectationIn(row), bodies, actions };
}

async function readTransitions<Tx>(
  { store, statements, settings: { account } }: OperatorContext<Tx>,
  options: ListOptions & { readonly transitionId?: string },
  tx?: Tx,
): Promise<readonly Row[]> {
  const [mark] =
    options.after === undefined ? [] : await statements.run('find_mark', [options.after, account], tx);
  if (options.after !== undefined && mark === undefined) return [];
  const search = searchFor(options, account, mark);
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

function keptBodyIn(row: Row): KeptBody {
  const body = bodyIn(row);
  return {
    ...body,
    text: optionalText(row, 'content'),
    deliveries: 1 + numberOf(row, 'repeats'),
    firstAt: dateOf(row, 'first_at'),
    lastAt: dateOf(row, 'last_at'),
    keyId: textOf(row, 'key_id'),
    refusal: reasonIn(row, 'refusal'),
    isSettled: body.digest === optionalText(row, 'settled_digest'),
  };
}

function actionIn(row: Row): OperatorAction {
  return {
    action: choiceOf(row, 'action', ['retry', 'resolve', 'reopen']),
    by: textOf(row, 'by_whom'),
    note: textOf(row, 'note'),
    at: dateOf(row, 'at'),
  };
}

/** @throws {ConfigurationError} When it is no id of a transition. */
export function checkId(transitionId: unknown): string {
  if (isId(transitionId)) return transitionId;
  throw new ConfigurationError('transitionId', 'A transitionId has 64 lower-case hexadecimal digits.');
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}
