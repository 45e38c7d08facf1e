import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { equalsExpectation } from './evaluation.ts';
import { refuseOtherValues } from './expectation.ts';
import { hexOf, type Session } from './session.ts';
import type { Settings } from './settings.ts';
import type { StoreEngine } from './store.ts';
import type { TransitionState } from './transition-state.ts';
import { type KeptBody, showTransition, type TransitionDetails } from './transition-views.ts';

/** How a person closes a transition. */
export interface Resolution {
  /** Why; for the next person who looks at it. At most 1000 characters. */
  readonly note: string;
  /**
   * The digest of the body that the person accepts, where no expectation is known: its amount becomes the expectation,
   * and the transition is worked on as any other. Without it the transition is closed, and nothing is applied.
   */
  readonly body?: string | undefined;
}

const OPEN: TransitionState[] = ['pending', 'retrying', 'unhandled', 'quarantined', 'conflict', 'dead'];
const CLOSED = 'It is settled or resolved already: to have it applied once more, reopen it.';
const DUE = 'It is pending or retrying already: a worker takes it when it is due.';

/** From which states to which, and what to say when it is in none of them. */
interface Move {
  readonly from: readonly TransitionState[];
  readonly to: 'pending' | 'resolved';
  readonly otherwise: string;
}

/** What a person may do to one transition. */
export class Desk<Tx> {
  readonly #engine: StoreEngine<Tx>;
  readonly #settings: Settings;

  constructor(engine: StoreEngine<Tx>, settings: Settings) {
    this.#engine = engine;
    this.#settings = settings;
  }

  /** Back to work, with all its attempts, under the same rules. */
  retry(id: Uint8Array): Promise<void> {
    return this.#inTransaction(id, async (session) => {
      await this.#move(session, id, { from: OPEN, to: 'pending', otherwise: CLOSED });
    });
  }

  /** Back to work although it was settled or resolved, or a rule about the order of statuses keeps it back. */
  reopen(id: Uint8Array): Promise<void> {
    const from: TransitionState[] = ['settled', 'resolved', 'unhandled', 'quarantined', 'conflict', 'dead'];
    return this.#inTransaction(id, async (session, found) => {
      await this.#admitEvidence(session, id, found);
      await this.#move(session, id, { from, to: 'pending', otherwise: DUE });
      await session.query(
        `update ${this.#engine.tables.transition} set waived = 1 where transition_id = $1`,
        [id],
      );
    });
  }

  resolve(id: Uint8Array, { note, body }: Resolution): Promise<void> {
    if (typeof note !== 'string' || note.trim() === '' || note.length > 1000 || note.includes('\0')) {
      throw new ConfigurationError(
        'note',
        'resolve() needs a note of 1 to 1000 characters: why is it closed?',
      );
    }
    return this.#inTransaction(id, async (session, found, referenceKey) => {
      if (body !== undefined) await this.#accept(session, found, { referenceKey, digest: body });
      const to = body === undefined ? 'resolved' : 'pending';
      await this.#move(session, id, { from: OPEN, to, otherwise: CLOSED });
      await session.query(`update ${this.#engine.tables.transition} set note = $2 where transition_id = $1`, [
        id,
        note.toWellFormed(),
      ]);
    });
  }

  async #inTransaction(
    id: Uint8Array,
    act: (session: Session, found: TransitionDetails, referenceKey: Uint8Array) => Promise<void>,
  ): Promise<void> {
    const { tables } = this.#engine;
    const { account } = this.#settings;
    await this.#engine.transaction(async (session) => {
      const { rows } = await session.query(
        `select reference_key from ${tables.transition} where transition_id = $1 and account = $2`,
        [id, account],
      );
      const key = rows[0]?.['reference_key'];
      if (!(key instanceof Uint8Array)) throw unknownTransition();
      const found = await showTransition(session, tables, account, id);
      if (found === undefined) throw unknownTransition();
      await act(session, found, key);
    });
    const found = await showTransition(this.#engine.session, tables, account, id);
    if (found !== undefined) {
      this.#settings.emit({ name: 'transition.moved', transitionId: hexOf(id), state: found.state });
    }
  }

  async #move(session: Session, id: Uint8Array, { from, to, otherwise }: Move): Promise<void> {
    const { tables } = this.#engine;
    const states = from.map((state) => `'${state}'`).join(', ');
    const moved = await session.query(
      `update ${tables.transition} set state = $2, reason = $3, attempts = 0, next_at = $4, changed_at = $4,
         revision = revision + 1, last_error = null
       where transition_id = $1 and state in (${states})`,
      [id, to, to === 'resolved' ? 'closed_by_person' : null, this.#settings.now()],
    );
    if (moved.rowCount !== 1) throw new InvalidStateError(otherwise);
    await session.query(`delete from ${tables.start} where transition_id = $1`, [id]);
  }

  /** The amount of the accepted body becomes the expectation: what the handler credits is what the person has seen. */
  async #accept(
    session: Session,
    found: TransitionDetails,
    { referenceKey, digest }: { referenceKey: Uint8Array; digest: string },
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
        'An expectation is known for this reference, and no body can take its place. Is it wrong, change it: expect().',
      );
    }
    const accepted = {
      referenceKey,
      merchantReference: found.signed.merchant_reference,
      ...claimOf(body),
      compare: 'both',
      deadlineAt: null,
    } as const;
    const { account, now } = this.#settings;
    refuseOtherValues(await this.#engine.expectIn(session, accepted, { account, now: now() }));
  }

  /**
   * Evidence whose five strings are beyond doubt, and that only a rule about `t` refused, may be let through. What can be
   * read in two ways (a ':' too many, a repeated name) is never applied.
   */
  async #admitEvidence(session: Session, id: Uint8Array, { bodies }: TransitionDetails): Promise<void> {
    if (bodies.some(({ refusal }) => refusal === undefined)) return;
    if (bodies.some(({ refusal }) => refusal?.startsWith('timestamp_') !== true)) {
      throw new InvalidStateError(
        'The signed fields of this evidence can be read in more than one way, so nothing is applied from it. Resolve it ' +
          'with a note.',
      );
    }
    const { body, transition } = this.#engine.tables;
    await session.query(
      `update ${body} set refusal = null where transition = (select id from ${transition} where transition_id = $1)`,
      [id],
    );
  }
}

function claimOf(body: KeptBody): { currency: string; amount: string } {
  const { currency, amount } = body.transaction;
  const isOne =
    currency !== null && amount !== null && equalsExpectation(body, { currency, amount, compare: 'both' });
  if (!isOne) {
    throw new ConfigurationError(
      'body',
      'This body does not say one amount: its request and its transaction differ, or are missing. Call expect() with the ' +
        'amount that is right, and with compare.',
    );
  }
  return { currency, amount };
}

function unknownTransition(): ConfigurationError {
  return new ConfigurationError(
    'transitionId',
    'No transition of this account has this id. list() gives the ids.',
  );
}
