import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { isUnambiguous } from '../intake/record.ts';
import type { TransitionReason, TransitionState } from '../states.ts';
import { textOf } from '../store/store.ts';
import { equalsExpectation } from '../work/evaluate.ts';
import { keepExpectation } from '../work/expectation.ts';
import {
  checkId,
  checkList,
  type KeptBody,
  listTransitions,
  type OperatorAction,
  type OperatorContext,
  showTransition,
} from './views.ts';

/** Who acts, and why. Kept with the transition. The inbox does not check who calls it: the application must. */
export interface ActionNote {
  /** Who: a name or an id of your users, at most 200 characters. */
  readonly by: string;
  /** Why, at most 1000 characters. */
  readonly note: string;
}

/** How a person closes a transition. */
export interface Resolution extends ActionNote {
  /**
   * The digest of the body that the person accepts, if no expectation is known: its amount becomes the expectation, and the
   * transition is worked on as any other. Without it, the transition is closed, and nothing is applied.
   */
  readonly body?: string | undefined;
}

/** Which transitions a bulk action moves, at most 1000 at a time. */
export interface TransitionSelection {
  readonly state: TransitionState;
  readonly reason?: TransitionReason | undefined;
  /** @default 1000 */
  readonly limit?: number | undefined;
}

const CLOSED: readonly TransitionState[] = ['settled', 'superseded', 'resolved'];
const DUE: readonly TransitionState[] = ['pending', 'retrying'];

interface Move<Tx> {
  readonly action: OperatorAction['action'];
  readonly note: ActionNote;
  readonly to?: 'pending' | 'resolved';
  /** What happens beside the move, in its transaction. */
  readonly before?: (found: Found, tx: Tx) => Promise<void>;
}

type Found = NonNullable<Awaited<ReturnType<typeof showTransition>>>;

/** What `resolve()` does: closes transitions, or accepts a body of one. @returns how many were moved. */
export function resolve<Tx>(
  context: OperatorContext<Tx>,
  which: string | TransitionSelection,
  resolution: Resolution,
): Promise<number> {
  const { body, ...note } = resolution ?? {};
  if (body === undefined) return move(context, which, { action: 'resolve', note, to: 'resolved' });
  if (typeof which !== 'string') {
    throw new ConfigurationError('body', 'resolve() accepts a body for one transition at a time.');
  }
  const before = (found: Found, tx: Tx): Promise<void> => accept(context, { found, digest: body }, tx);
  return move(context, which, { action: 'resolve', note, before });
}

export async function reopen<Tx>(
  context: OperatorContext<Tx>,
  transitionId: string,
  note: ActionNote,
): Promise<void> {
  const before = (found: Found, tx: Tx): Promise<void> => admitEvidence(context, found, tx);
  await move(context, checkId(transitionId), { action: 'reopen', note, before });
}

/** @returns how many were moved. One that is named must be movable; of a selection, what is not any more is passed over. */
export async function move<Tx>(
  context: OperatorContext<Tx>,
  which: string | TransitionSelection,
  given: Move<Tx>,
): Promise<number> {
  checkNote(given);
  const moved = await context.store.transaction(async (tx) => {
    if (typeof which === 'string') return [await moveOne(context, checkId(which), given, tx)];
    const { limit = 1000, ...rest } = checkList({ ...which });
    if (rest.state === undefined) {
      throw new ConfigurationError('state', `${given.action}() takes a transitionId, or { state, reason }.`);
    }
    const done: string[] = [];
    for (const { state, transitionId } of await listTransitions(context, { ...rest, limit }, tx)) {
      if (refusalOf(state, given.action) === undefined)
        done.push(await moveOne(context, transitionId, given, tx));
    }
    return done;
  });
  for (const transitionId of moved) {
    context.settings.emit({ name: 'transition.moved', transitionId, state: given.to ?? 'pending' });
  }
  return moved.length;
}

async function moveOne<Tx>(
  context: OperatorContext<Tx>,
  transitionId: string,
  { action, note, to = 'pending', before }: Move<Tx>,
  tx: Tx,
): Promise<string> {
  const { statements, settings } = context;
  // Until this transaction ends, no worker takes it and no other person moves it.
  await statements.run('lock_named_transition', [transitionId, settings.account], tx);
  const found = await showTransition(context, transitionId, tx);
  if (found === undefined) {
    throw new ConfigurationError(
      'transitionId',
      'No transition of this account has this id. list() gives the ids.',
    );
  }
  const refusal = refusalOf(found.state, action);
  if (refusal !== undefined) throw new InvalidStateError(refusal);
  await before?.(found, tx);
  const reason = to === 'resolved' ? 'closed_by_person' : null;
  await statements.run('move', [found.id, to, reason, action === 'reopen' ? 1 : 0], tx);
  const [by, why] = [note.by.toWellFormed(), note.note.toWellFormed()];
  await statements.run('add_action', [found.id, action, by, why], tx);
  return transitionId;
}

/** The amount of the accepted body becomes the expectation: what the handler credits is what the person has seen. */
async function accept<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  { found, digest }: { readonly found: Found; readonly digest: string },
  tx: Tx,
): Promise<void> {
  const body = found.bodies.find((each) => each.digest === digest && each.refusal === undefined);
  if (body === undefined) {
    throw new ConfigurationError(
      'body',
      'body must be the digest of one of the verified bodies that show() lists.',
    );
  }
  if (found.expectation !== undefined) {
    throw new InvalidStateError(
      'An expectation is known for this reference, and no body can take its place. If it is wrong, change it with expect().',
    );
  }
  const expectation = {
    referenceKey: textOf(found.row, 'reference_key'),
    transactionType: textOf(found.row, 'transaction_type'),
    account: settings.account,
    merchantReference: found.signed.merchant_reference.replaceAll('\0', '\uFFFD'),
    ...moneyOf(body),
    compare: 'both' as const,
    deadlineAt: null,
  };
  await keepExpectation(statements, { expectation, replace: false }, tx);
}

/**
 * Evidence whose five strings are beyond doubt, and that only a rule about `t` refused, may be let through. What can be
 * read in two ways (a ':' too many, a repeated name) is never applied.
 */
async function admitEvidence<Tx>(
  { statements }: OperatorContext<Tx>,
  { id, bodies }: Found,
  tx: Tx,
): Promise<void> {
  if (bodies.some(({ refusal }) => refusal === undefined)) return;
  if (!bodies.every(({ refusal = null }) => isUnambiguous(refusal))) {
    throw new InvalidStateError(
      'The signed fields of this evidence can be read in more than one way, so nothing is applied from it. Resolve it ' +
        'with a note.',
    );
  }
  await statements.run('admit_evidence', [id], tx);
}

/** Why a transition in this state cannot be moved in this way. */
function refusalOf(state: TransitionState, action: OperatorAction['action']): string | undefined {
  if (action === 'reopen') {
    return DUE.includes(state)
      ? 'It is pending or retrying already: a worker takes it when it is due.'
      : undefined;
  }
  return CLOSED.includes(state)
    ? 'It is settled, superseded or resolved already. To have it applied once more, reopen it.'
    : undefined;
}

function checkNote({ action, note }: Pick<Move<unknown>, 'action' | 'note'>): void {
  const { by, note: why } = note ?? {};
  for (const [name, value, max] of [
    ['by', by, 200],
    ['note', why, 1000],
  ] as const) {
    if (typeof value === 'string' && value.trim() !== '' && value.length <= max && !value.includes('\0'))
      continue;
    throw new ConfigurationError(
      name,
      `${action}() needs { by, note }: who, and why. ${name} must have 1 to ${max} characters.`,
    );
  }
}

function moneyOf(body: KeptBody): { currency: string; amount: string } {
  const { currency, amount } = body.transaction;
  if (
    currency !== null &&
    amount !== null &&
    equalsExpectation(body, { currency, amount, compare: 'both' })
  ) {
    return { currency, amount };
  }
  throw new ConfigurationError(
    'body',
    'This body does not claim one amount: its request and its transaction differ, or are missing. Call expect() with the ' +
      'amount that is right, and with compare.',
  );
}
