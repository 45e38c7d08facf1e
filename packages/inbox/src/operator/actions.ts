import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { isUnambiguous } from '../intake/record.ts';
import type { Settings } from '../options.ts';
import type { TransitionReason, TransitionState } from '../states.ts';
import type { Statements } from '../store/statements.ts';
import { type Store, textOf } from '../store/store.ts';
import { equalsExpectation } from '../work/evaluate.ts';
import { keepExpectation } from '../work/expectation.ts';
import {
  checkId,
  checkList,
  type KeptBody,
  listTransitions,
  type OperatorAction,
  showTransition,
  type TransitionDetails,
} from './views.ts';

/** Who acts, and why. Kept with the transition; the inbox authorises nobody, the application must. */
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
  readonly to: 'pending' | 'resolved';
  readonly isWaived?: boolean;
  /** What happens beside the move, in its transaction. */
  readonly before?: (found: Found, tx: Tx) => Promise<void>;
}

type Found = NonNullable<Awaited<ReturnType<typeof showTransition>>>;

/** What a person may do with transitions. */
export class Actions<Tx> {
  readonly #store: Store<Tx>;
  readonly #statements: Statements<Tx>;
  readonly #settings: Settings;

  constructor(store: Store<Tx>, statements: Statements<Tx>, settings: Settings) {
    this.#store = store;
    this.#statements = statements;
    this.#settings = settings;
  }

  retry(which: string | TransitionSelection, note: ActionNote): Promise<number> {
    return this.#move(which, { action: 'retry', note, to: 'pending' });
  }

  resolve(which: string | TransitionSelection, resolution: Resolution): Promise<number> {
    checkNote({ action: 'resolve', note: resolution });
    const { body, ...note } = resolution;
    if (body === undefined) return this.#move(which, { action: 'resolve', note, to: 'resolved' });
    if (typeof which !== 'string') {
      throw new ConfigurationError('body', 'resolve() accepts a body for one transition at a time.');
    }
    const before = (found: Found, tx: Tx): Promise<void> => this.#accept(found, body, tx);
    return this.#move(which, { action: 'resolve', note, to: 'pending', before });
  }

  async reopen(transitionId: string, note: ActionNote): Promise<void> {
    const before = (found: Found, tx: Tx): Promise<void> => this.#admitEvidence(found, tx);
    await this.#move(transitionId, { action: 'reopen', note, to: 'pending', isWaived: true, before });
  }

  /** @returns how many were moved. One that is named must be movable; of a selection, what is not any more is passed over. */
  async #move(which: string | TransitionSelection, move: Move<Tx>): Promise<number> {
    checkNote(move);
    const moved = await this.#store.transaction(async (tx) => {
      if (typeof which === 'string') return [await this.#moveOne(checkId(which), move, tx)];
      const { limit = 1000, ...rest } = checkList({ ...which });
      if (rest.state === undefined) {
        throw new ConfigurationError('state', `${move.action}() takes a transitionId, or { state, reason }.`);
      }
      const listed = await listTransitions(
        { store: this.#store, statements: this.#statements },
        this.#settings.account,
        { ...rest, limit },
        tx,
      );
      const movable = listed.filter(({ state }) => refusalOf(state, move.action) === undefined);
      const done: string[] = [];
      for (const { transitionId } of movable) done.push(await this.#moveOne(transitionId, move, tx));
      return done;
    });
    for (const transitionId of moved) {
      this.#settings.emit({ name: 'transition.moved', transitionId, state: move.to });
    }
    return moved.length;
  }

  async #moveOne(
    transitionId: string,
    { action, note, to, isWaived, before }: Move<Tx>,
    tx: Tx,
  ): Promise<string> {
    const { account } = this.#settings;
    // Nobody works on it or moves it until this transaction ends.
    await this.#statements.run('lock_named_transition', [transitionId, account], tx);
    const found = await showTransition(this.#statements, { transitionId, account }, tx);
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
    await this.#statements.run('move', [found.id, to, reason, isWaived === true ? 1 : 0], tx);
    await this.#statements.run(
      'add_action',
      [found.id, action, note.by.toWellFormed(), note.note.toWellFormed()],
      tx,
    );
    return transitionId;
  }

  /** The amount of the accepted body becomes the expectation: what the handler credits is what the person has seen. */
  async #accept(found: Found, digest: string, tx: Tx): Promise<void> {
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
      account: this.#settings.account,
      merchantReference: found.signed.merchant_reference.replaceAll('\0', '\uFFFD'),
      ...moneyOf(body),
      compare: 'both' as const,
      deadlineAt: null,
    };
    await keepExpectation(this.#statements, { expectation, replace: false }, tx);
  }

  /**
   * Evidence whose five strings are beyond doubt, and that only a rule about `t` refused, may be let through. What can be
   * read in two ways (a ':' too many, a repeated name) is never applied.
   */
  async #admitEvidence(
    { id, bodies }: Pick<TransitionDetails, 'bodies'> & { id: number },
    tx: Tx,
  ): Promise<void> {
    if (bodies.some(({ refusal }) => refusal === undefined)) return;
    if (!bodies.every(({ refusal = null }) => isUnambiguous(refusal))) {
      throw new InvalidStateError(
        'The signed fields of this evidence can be read in more than one way, so nothing is applied from it. Resolve it ' +
          'with a note.',
      );
    }
    await this.#statements.run('admit_evidence', [id], tx);
  }
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
