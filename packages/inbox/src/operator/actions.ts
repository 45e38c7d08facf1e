import { ConfigurationError, InvalidStateError, type SignedFields, StaleError } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
  RECORD,
  refuseArgument,
} from '@payment-service/core/internal';
import { DATE, TRANSITION_ID } from '../option-rules.ts';
import { isUnambiguous } from '../records.ts';
import { CLOSED_STATES, TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import { choiceOf, dateOf, numberOf, type Row } from '../store/store.ts';
import { findArchived } from '../work/verdict/archived.ts';
import { readCase } from '../work/verdict/case.ts';
import {
  type Comparison,
  equalsExpectation,
  withRoundedAccepted,
  withTextAccepted,
} from '../work/verdict/evaluate.ts';
import { COMPARISON, checkExpectation, keepExpectation } from '../work/verdict/expectation.ts';
import { keysOf, restate } from '../work/verdict/payment.ts';
import { signedIn } from '../work/verdict/stored.ts';
import { type ActionNote, addAction, type LoggedAct, NOTE_RULES } from './action-log.ts';
import {
  listTransitions,
  type OperatorContext,
  readTransitions,
  revisionOf,
  type TransitionSummary,
} from './views.ts';

/**
 * A transition as it was read: `list()` and `show()` return it. An act is refused with a `StaleError` if its revision has changed,
 * so that no decision is made on a page or a list that is out of date (threat A70).
 */
export type SeenTransition = Pick<TransitionSummary, 'transitionId' | 'revision'>;

/** What an operator accepts. */
export interface Acceptance extends ActionNote {
  /** The digest of the body whose amount becomes the expectation, in place of a known one that is not settled. */
  readonly body: string;
  /** Which of its two amounts is right, as in `confirmAmount()`. @default 'both' */
  readonly compare?: Comparison | undefined;
}

/** Which transitions a bulk action moves, at most 1000 at a time. */
export interface TransitionSelection {
  readonly state: TransitionState;
  readonly reason?: TransitionReason | undefined;
  /**
   * When you looked, such as `at` of `stats()`. What has changed since then is not moved: neither a transition, nor one with a new
   * body or another expectation.
   */
  readonly until: Date;
  /** @default 1000 */
  readonly limit?: number | undefined;
}

/** An act on one report. */
export type ReportAct = Exclude<LoggedAct, 'cancel' | 'expect'>;

const RULES: Readonly<Record<ReportAct, OptionRules<ActionNote> | OptionRules<Acceptance>>> = {
  ...{ retry: NOTE_RULES, resolve: NOTE_RULES, acceptText: NOTE_RULES },
  ...{ reopen: NOTE_RULES, applyAgain: NOTE_RULES },
  accept: {
    ...NOTE_RULES,
    body: [(body) => typeof body === 'string', 'the digest of a body that show() lists', true],
    compare: COMPARISON,
  },
};
const SEEN: OptionRule = [
  (seen) => TRANSITION_ID[0](Object(seen).transitionId) && typeof Object(seen).revision === 'string',
  'a transition that list() or show() returned, or its transitionId and revision',
];

/** One act, decided on one transition as it was seen. */
export interface Decision extends ActionNote, Partial<Omit<Acceptance, keyof ActionNote>> {
  readonly action: ReportAct;
  readonly transitionId: string;
  readonly id: number;
  readonly signed: SignedFields;
}

/**
 * Performs an act on one transition, unless it has changed since it was seen.
 *
 * @throws {StaleError} If it has.
 */
export async function act<Tx>(
  context: OperatorContext<Tx>,
  action: ReportAct,
  seen: SeenTransition,
  given: ActionNote | Acceptance,
): Promise<void> {
  const call = `${action}()`;
  checkOptions(call, given ?? {}, RULES[action]);
  checkArgument(call, 'transition', seen, SEEN);
  const { store, statements, settings } = context;
  const { transitionId, revision } = seen;
  const key = [transitionId, settings.account];
  const state = await store.transaction(async (tx) => {
    // Until this transaction ends, no worker can take it, no other operator can move it, and what is expected stays.
    await statements.run('lock_named_expectation', key, tx);
    const [locked] = await statements.run('lock_named_transition', key, tx);
    if (locked === undefined || isAdmitting(action)) {
      const keys = { transitionId };
      const [archived] = await findArchived(statements, { keys, account: settings.account }, tx);
      if (archived !== undefined) throw new InvalidStateError(ARCHIVED);
    }
    if (locked === undefined)
      throw new ConfigurationError('transitionId', 'No transition of the account has this id. See list().');
    const refusal = refusalOf(locked, action);
    if ((await revisionNow(context, transitionId, tx)) !== revision) throw new StaleError(STALE);
    if (refusal !== undefined) throw new InvalidStateError(refusal);
    const decision = { ...given, action, transitionId, id: numberOf(locked, 'id'), signed: signedIn(locked) };
    return move(context, decision, tx);
  });
  settings.emit({ name: 'transition.moved', transitionId, state });
}

/** One transition, or all of a selection. @returns how many. */
export async function actOn<Tx>(
  context: OperatorContext<Tx>,
  action: 'retry' | 'resolve',
  which: SeenTransition | TransitionSelection,
  given: ActionNote,
): Promise<number> {
  if (!RECORD[0](which))
    refuseArgument(`${action}()`, 'which', `${SEEN[1]}; or { state, reason, until }`, which);
  if (!('transitionId' in which)) return actOnAll(context, action, which, given);
  await act(context, action, which, given);
  return 1;
}

/**
 * Retries or closes all of a selection, except those that have changed since the operator looked, and those that are no longer
 * movable.
 *
 * @returns how many.
 */
async function actOnAll<Tx>(
  context: OperatorContext<Tx>,
  action: 'retry' | 'resolve',
  selection: TransitionSelection,
  given: ActionNote,
): Promise<number> {
  const { store, statements, settings } = context;
  checkOptions(`${action}()`, given ?? {}, NOTE_RULES);
  const { state, until, limit = 1000 } = selection;
  if (state === undefined)
    refuseArgument(`${action}()`, 'which', `${SEEN[1]}; or { state, reason, until }`, selection);
  if (!DATE[0](until))
    refuseArgument(`${action}()`, 'until', 'the moment at which you looked, a Date', until);
  const moved = await store.transaction(async (tx) => {
    const done = new Map<string, MovedState>();
    for (const { transitionId } of await listTransitions(context, { ...selection, limit }, tx)) {
      const key = [transitionId, settings.account];
      await statements.run('lock_named_expectation', key, tx);
      const [locked] = await statements.run('lock_named_transition', key, tx);
      if (locked === undefined || refusalOf(locked, action) !== undefined) continue;
      if (dateOf(locked, 'last_at') >= until) continue;
      const decision = {
        ...{ ...given, action, transitionId },
        id: numberOf(locked, 'id'),
        signed: signedIn(locked),
      };
      done.set(transitionId, await move(context, decision, tx));
    }
    return done;
  });
  for (const [transitionId, state] of moved) settings.emit({ name: 'transition.moved', transitionId, state });
  return moved.size;
}

/** It admits a transition despite the order of statuses, or despite a body with a replaced amount. */
const isAdmitting = (action: ReportAct): boolean => action === 'reopen' || action === 'applyAgain';

export type MovedState = 'pending' | 'resolved';

/** What the act does beside moving the transition, which it has locked. */
export async function move<Tx>(
  context: OperatorContext<Tx>,
  decision: Decision,
  tx: Tx,
): Promise<MovedState> {
  const { statements, settings } = context;
  const { id, action, transitionId } = decision;
  if (action === 'accept') await accept(context, decision, tx);
  if (action === 'acceptText') await acceptText(context, id, tx);
  if (isAdmitting(action)) {
    await admitEvidence(context, id, tx);
    await statements.run('drop_hours', [settings.account, transitionId], tx);
  }
  const state = action === 'resolve' ? 'resolved' : 'pending';
  await statements.run('move', [id, state, isAdmitting(action) ? 1 : 0], tx);
  await addAction(statements, decision, tx);
  await restate(statements, { ...decision.signed, account: settings.account }, tx);
  return state;
}

/** The revision of a transition that this transaction has locked. */
async function revisionNow<Tx>(
  context: OperatorContext<Tx>,
  transitionId: string,
  tx: Tx,
): Promise<string | undefined> {
  const [row] = await readTransitions(context, { transitionId }, undefined, tx);
  return row && revisionOf(row);
}

/**
 * The amount of the accepted body becomes the expectation, so the handler credits what the operator has seen. A number that a
 * parser rounded is no such amount: its body then claims what is expected, which the operator has stated (decision D77).
 */
async function accept<Tx>(
  { statements, settings: { account } }: OperatorContext<Tx>,
  { id, body: digest, compare = 'both', by, note }: Decision,
  tx: Tx,
): Promise<void> {
  const file = await readCase(statements, id, tx);
  const body = file?.bodies.find((each) => each.digest === digest);
  if (file === undefined || body === undefined)
    throw new ConfigurationError('body', 'body must be the digest of a verified body that show() lists.');
  const { currency, amount } = body[compare === 'request' ? compare : 'transaction'];
  if (currency === null || amount === null || !equalsExpectation(body, { currency, amount, compare })) {
    const stated = file.expectation && withRoundedAccepted(body, file.expectation);
    if (stated !== undefined) {
      await statements.run('accept_claims', [id, body.digest, JSON.stringify(stated)], tx);
      return;
    }
    throw new ConfigurationError(
      'body',
      'This body does not claim one amount: its request and its transaction differ, or are missing. Say with compare which one is ' +
        'right, or call expect() with the right amount. If its number was rounded, call expect() with the exact amount first.',
    );
  }
  const { merchant_reference, transaction_type } = file.signed;
  const accepted = { merchant_reference, transaction_type, currency, amount, compare };
  // The verifier has accepted the reference of this body.
  const expectation = checkExpectation(accepted, { account, colonIn: 'merchant_reference' });
  if (file.expectation?.isCanceled) await statements.run('uncancel', keysOf(file.signed, account), tx);
  await keepExpectation(statements, { expectation, replace: { by, note } }, tx);
}

/** A body whose text is the expected amount now claims that amount. Its content stays as it was sent. */
async function acceptText<Tx>({ statements }: OperatorContext<Tx>, id: number, tx: Tx): Promise<void> {
  const { bodies = [], expectation } = (await readCase(statements, id, tx)) ?? {};
  const equal = bodies.filter(
    (body) => expectation !== undefined && equalsExpectation(withTextAccepted(body), expectation),
  );
  if (equal.length === 0)
    throw new InvalidStateError(
      'No body has the expected amount as a decimal text, such as "500". Ask the service what was paid, then accept the amount of a body or call expect().',
    );
  for (const body of equal)
    await statements.run('accept_claims', [id, body.digest, JSON.stringify(withTextAccepted(body))], tx);
}

/**
 * Admits evidence that only a rule about `t` refused. Evidence that can be read in two ways has an id of its own and is not
 * admitted.
 */
async function admitEvidence<Tx>({ statements }: OperatorContext<Tx>, id: number, tx: Tx): Promise<void> {
  const { bodies = [], refusals = [] } = (await readCase(statements, id, tx)) ?? {};
  if (bodies.length > 0) return;
  if (!refusals.every(isUnambiguous)) {
    throw new InvalidStateError(
      'The signed fields of this evidence can be read in more than one way, so nothing is applied from it. Close it with a note.',
    );
  }
  await statements.run('admit_evidence', [id], tx);
}

const ARCHIVED =
  'This transition was settled or superseded and is archived, so it is never applied again. If its effect is missing in your own ' +
  'tables, ask the service for the status of the transaction and correct them yourself.';
export const STALE: string =
  'This payment has changed since it was read: another operator or a worker acted on it, another report arrived, or another amount ' +
  'is expected. Nothing was done. Read it again, then decide.';

/** Why a transition in this state cannot be moved in this way. Only `applyAgain` applies what was applied before. */
function refusalOf(locked: Row, action: ReportAct): string | undefined {
  const state = choiceOf(locked, 'state', TRANSITION_STATES);
  const isApplied = numberOf(locked, 'is_applied') === 1;
  if (!isAdmitting(action)) {
    if (state === 'settled') return 'It is already settled: it was applied, and waits for nothing.';
    return CLOSED_STATES.includes(state)
      ? `It is already ${state}. To apply it after all, reopen it.`
      : undefined;
  }
  if (state === 'pending' || state === 'retrying')
    return 'It is already pending or retrying: a worker applies it when it is due.';
  if (action === 'reopen' && isApplied)
    return 'It was applied, so it is not reopened. If the service confirms that it happened a second time, apply it again, which is a separate act.';
  if (action === 'applyAgain' && !isApplied)
    return 'It was never applied, so it cannot be applied again. Reopen or retry it.';
  return undefined;
}
