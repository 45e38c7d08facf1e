import { InvalidStateError } from '@payment-service/core';
import { type ActionNote, asInput } from '../../action-note.ts';
import { isUnambiguous } from '../../delivery/stored-delivery.ts';
import type { Statements } from '../../store/statements.ts';
import { readCase } from '../../verdict/case-file.ts';
import {
  type Comparison,
  equalsExpectation,
  withRoundedAccepted,
  withTextAccepted,
} from '../../verdict/evaluate.ts';
import { checkExpectation, keepExpectation } from '../../verdict/expectation.ts';
import { keysOf } from '../../verdict/restate.ts';
import { type Act, isSame } from './offers.ts';

/** What an operator states with an act; everything but `by` and `note` only with `expect`. */
export interface ActGiven extends ActionNote {
  readonly currency?: string | undefined;
  /** Above zero: a decimal string. */
  readonly amount?: string | undefined;
  /** Which of the two amounts of a report must equal it. @default 'both' */
  readonly compare?: Comparison | undefined;
  /** From then on, the payment is overdue. @default its current deadline */
  readonly deadline?: Date | undefined;
}

/** An act that its payment offers, in the transaction that has locked the payment. */
export interface Performing<Tx> {
  readonly statements: Statements<Tx>;
  readonly account: string;
  readonly act: Act;
  readonly given: ActGiven;
  /** The id of its report's row; -1 without one. */
  readonly id: number;
  readonly tx: Tx;
}

/** What an act does, besides moving its report. */
export type Effect = <Tx>(performing: Performing<Tx>) => Promise<unknown>;

/**
 * The amount of the accepted body becomes the expectation, so the handler credits what the operator has seen. A number that a
 * parser rounded is no such amount, and neither is text: the body then claims what is expected, which the operator has stated
 * (decision D77). Its content stays as it was sent.
 */
export const accept: Effect = async (performing) => {
  const { statements, account, act, given, id, tx } = performing;
  const { expectation, bodies = [] } = (await readCase(statements, id, tx)) ?? {};
  if (expectation === undefined || !isSame(act.money, expectation)) {
    if (expectation?.isCanceled) await statements.run('uncancel', keysOf(act, account), tx);
    return expect({ ...performing, given: { ...given, ...act.money, compare: act.compare ?? 'both' } });
  }
  for (const body of bodies.filter(({ digest }) => act.isText || digest === act.body)) {
    const claims = act.isText ? withTextAccepted(body) : withRoundedAccepted(body, expectation);
    if (claims !== undefined && equalsExpectation(claims, expectation))
      await statements.run('accept_claims', [id, body.digest, JSON.stringify(claims)], tx);
  }
};

/** Admits evidence that only a rule about `t` refused. Evidence that can be read in two ways has an id of its own. */
export const admit: Effect = async ({ statements, account, act, id, tx }) => {
  const { bodies = [], refusals = [] } = (await readCase(statements, id, tx)) ?? {};
  if (bodies.length === 0 && !refusals.every(isUnambiguous))
    throw new InvalidStateError(
      'The signed fields of this evidence can be read in more than one way, so nothing is applied from it. Close it with a note.',
    );
  if (bodies.length === 0) await statements.run('admit_evidence', [id], tx);
  await statements.run('drop_hours', [account, act.report ?? ''], tx);
};

export const expect: Effect = async ({ statements, account, act, given, tx }) => {
  const { merchant_reference, transaction_type } = act;
  const { by, note, currency = '', amount = '', compare, deadline } = given;
  const stated = { merchant_reference, transaction_type, currency, amount, compare, deadline };
  // The verifier has accepted the reference.
  const expectation = asInput(stated, () =>
    checkExpectation(stated, { account, colonIn: 'merchant_reference' }),
  );
  await keepExpectation(statements, { expectation, replace: { by, note } }, tx);
};

export const cancel: Effect = ({ statements, account, act, tx }) =>
  statements.run('cancel', keysOf(act, account), tx);
