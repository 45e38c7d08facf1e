import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import {
  checkOptions,
  type OptionRule,
  type OptionRules,
  RECORD,
  refuseArgument,
} from '@payment-service/core/internal';
import { BOOLEAN } from '../option-rules.ts';
import { isUnambiguous } from '../records.ts';
import { CLOSED_STATES, TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import type { Statements } from '../store/statements.ts';
import { choiceOf, numberOf } from '../store/store.ts';
import { findArchived } from '../work/verdict/archived.ts';
import { readCase } from '../work/verdict/case.ts';
import { type Comparison, equalsExpectation, withTextAccepted } from '../work/verdict/evaluate.ts';
import { COMPARISON, checkExpectation, keepExpectation } from '../work/verdict/expectation.ts';
import { checkId, listTransitions, type OperatorAction, type OperatorContext } from './views.ts';

type Move = Exclude<OperatorAction['action'], 'statement' | 'forget'>;

/** Who acts, and why. Kept with the transition. The inbox does not check who calls it: the application must. */
export interface ActionNote {
  /** Who: a name or an id of your users, at most 200 characters. */
  readonly by: string;
  /** Why, at most 1000 characters. */
  readonly note: string;
}

/** How an operator closes a transition. */
export interface Resolution extends ActionNote {
  /**
   * The digest of the body that the operator accepts, if no expectation is known: its amount becomes the expectation, and the
   * transition is processed like any other. Without it, the transition is closed and nothing is applied.
   */
  readonly body?: string | undefined;
  /** With `body`: which of its two amounts is right, as in `confirmAmount()`. @default 'both' */
  readonly compare?: Comparison | undefined;
  /**
   * With `body`: its amount replaces that of a known expectation, such as after a partial payment. A settled one is not
   * replaced.
   *
   * @default false
   */
  readonly replace?: boolean | undefined;
}

/** Which transitions a bulk action moves, at most 1000 at a time. */
export interface TransitionSelection {
  readonly state: TransitionState;
  readonly reason?: TransitionReason | undefined;
  /** Changed before this moment. */
  readonly until?: Date | undefined;
  /** @default 1000 */
  readonly limit?: number | undefined;
}

export const NOTE_RULES: OptionRules<ActionNote> = {
  by: textOfPerson('who acts', 200),
  note: textOfPerson('why', 1000),
};
const RULES: OptionRules<Resolution> = {
  ...NOTE_RULES,
  body: undefined,
  compare: COMPARISON,
  replace: BOOLEAN,
};

/**
 * Puts transitions back to work, or closes them.
 *
 * @returns how many. A named one must be movable; in a selection, those that are no longer movable are skipped.
 */
export async function move<Tx>(
  context: OperatorContext<Tx>,
  action: Move,
  which: string | TransitionSelection,
  given: Resolution,
): Promise<number> {
  checkOptions(`${action}()`, given ?? {}, RULES);
  const { store, statements, settings } = context;
  const { account, emit } = settings;
  const isNamed = typeof which === 'string' || action === 'reopen' || action === 'acceptText';
  if (!isNamed && !(RECORD[0](which) && which.state !== undefined))
    refuseArgument(`${action}()`, 'which', 'a transitionId, or { state, reason }', which);
  const digest = action === 'resolve' ? given.body : undefined;
  if (digest !== undefined && !isNamed)
    throw new ConfigurationError('body', 'resolve() accepts a body for one transition at a time.');
  const state = action === 'resolve' && digest === undefined ? 'resolved' : 'pending';
  const moved = await store.transaction(async (tx) => {
    const done: string[] = [];
    const found = isNamed ? [] : await listTransitions(context, { ...which, limit: which.limit ?? 1000 }, tx);
    const ids = isNamed ? [checkId(`${action}()`, which)] : found.map(({ transitionId }) => transitionId);
    for (const transitionId of ids) {
      // Until this transaction ends, no worker can take it and no other operator can move it.
      const [row] = await statements.run('lock_named_transition', [transitionId, account], tx);
      if (row === undefined || action === 'reopen') {
        const [archived] = await findArchived(statements, { keys: { transitionId }, account }, tx);
        if (archived !== undefined) throw new InvalidStateError(ARCHIVED);
      }
      if (row === undefined)
        throw new ConfigurationError('transitionId', 'No transition of the account has this id. See list().');
      const refusal = refusalOf(choiceOf(row, 'state', TRANSITION_STATES), action);
      if (refusal !== undefined && isNamed) throw new InvalidStateError(refusal);
      if (refusal !== undefined) continue;
      const id = numberOf(row, 'id');
      if (digest !== undefined) await accept(context, { ...given, id, digest }, tx);
      if (action === 'reopen') {
        await admitEvidence(context, id, tx);
        await statements.run('drop_hours', [account, transitionId], tx);
      }
      if (action === 'acceptText') await acceptText(context, id, tx);
      await statements.run('move', [id, state, action], tx);
      await addAction(statements, { ...given, id, action }, tx);
      done.push(transitionId);
    }
    return done;
  });
  for (const transitionId of moved) emit({ name: 'transition.moved', transitionId, state });
  return moved.length;
}

/** Keeps who acted, and why. */
export async function addAction<Tx>(
  statements: Statements<Tx>,
  { id, action, by, note }: ActionNote & { readonly id: number; readonly action: OperatorAction['action'] },
  tx: Tx,
): Promise<void> {
  await statements.run('add_action', [id, action, by.toWellFormed(), note.toWellFormed()], tx);
}

/** The amount of the accepted body becomes the expectation, so the handler credits what the operator has seen. */
async function accept<Tx>(
  { statements, settings: { account } }: OperatorContext<Tx>,
  given: Resolution & { readonly id: number; readonly digest: string },
  tx: Tx,
): Promise<void> {
  const { id, digest, compare = 'both', replace = false } = given;
  const file = await readCase(statements, id, tx);
  const body = file?.bodies.find((each) => each.digest === digest);
  if (file === undefined || body === undefined)
    throw new ConfigurationError('body', 'body must be the digest of a verified body that show() lists.');
  if (file.expectation !== undefined && !replace) {
    throw new InvalidStateError(
      'An expectation is known for this reference, and this body does not replace it. If the expectation is wrong, change ' +
        'it with expect(), or pass replace: true.',
    );
  }
  const { currency, amount } = body[compare === 'request' ? compare : 'transaction'];
  if (currency === null || amount === null || !equalsExpectation(body, { currency, amount, compare })) {
    throw new ConfigurationError(
      'body',
      'This body does not claim one amount: its request and its transaction differ, or are missing. Say with compare which ' +
        'one is right, or call expect() with the right amount.',
    );
  }
  const { merchant_reference, transaction_type } = file.signed;
  const accepted = { merchant_reference, transaction_type, currency, amount, compare };
  // The verifier has accepted the reference of this body.
  const expectation = checkExpectation(accepted, { account, colonIn: 'merchant_reference' });
  await keepExpectation(statements, { expectation, replace }, tx);
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
    await statements.run('accept_text', [id, body.digest, JSON.stringify(withTextAccepted(body))], tx);
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
      'The signed fields of this evidence can be read in more than one way, so nothing is applied from it. Resolve it ' +
        'with a note.',
    );
  }
  await statements.run('admit_evidence', [id], tx);
}

const ARCHIVED =
  'This transition was settled or superseded and is archived, so it is never applied again. If its effect is missing in your own ' +
  'tables, ask the service for the status of the transaction and correct them yourself.';

/** Why a transition in this state cannot be moved in this way. */
function refusalOf(state: TransitionState, action: Move): string | undefined {
  if (action !== 'reopen' && CLOSED_STATES.includes(state))
    return 'It is already settled, superseded or resolved. To apply it once more, reopen it.';
  if (action === 'reopen' && ['pending', 'retrying'].includes(state))
    return 'It is already pending or retrying: a worker applies it when it is due.';
  return undefined;
}

function textOfPerson(what: string, max: number): OptionRule {
  const isValid = (value: unknown): boolean =>
    typeof value === 'string' && value.trim() !== '' && value.length <= max && !value.includes('\0');
  return [isValid, `1 to ${max} characters that say ${what}`, true];
}
