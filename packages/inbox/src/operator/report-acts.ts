import {
  ConfigurationError,
  InvalidStateError,
  type SignedFields,
  transitionId as transitionIdOf,
} from '@payment-service/core';
import type { ActionNote } from '../action-note.ts';
import { isUnambiguous } from '../records.ts';
import { readCase } from '../work/verdict/case.ts';
import { equalsExpectation, withRoundedAccepted, withTextAccepted } from '../work/verdict/evaluate.ts';
import { checkExpectation, keepExpectation } from '../work/verdict/expectation.ts';
import { keysOf, restate } from '../work/verdict/payment.ts';
import type { ActName } from './action-log.ts';
import { addAction } from './action-log.ts';
import type { Act } from './operations.ts';
import type { OperatorContext } from './views.ts';

/** An act on one report. */
export type ReportAct = Exclude<ActName, 'cancel' | 'expect' | 'forget'>;

/** One act, decided on one report as it was seen. */
export interface Decision extends ActionNote, Pick<Act, 'body' | 'compare' | 'isText'> {
  readonly action: ReportAct;
  readonly transitionId: string;
  readonly id: number;
  readonly signed: SignedFields;
}

/** It admits a transition despite the order of statuses, or despite a body with a replaced amount. */
const isAdmitting = (action: ReportAct): boolean => action === 'apply' || action === 'applyAgain';

export type MovedState = 'pending' | 'resolved';

/** What the act does beside moving the transition, which it has locked. */
export async function move<Tx>(
  context: OperatorContext<Tx>,
  decision: Decision,
  tx: Tx,
): Promise<MovedState> {
  const { statements, settings } = context;
  const { id, action, transitionId } = decision;
  if (action === 'accept')
    await (decision.isText ? acceptText(context, id, tx) : accept(context, decision, tx));
  if (isAdmitting(action)) {
    await admitEvidence(context, id, tx);
    await statements.run('drop_hours', [settings.account, transitionId], tx);
  }
  const state = action === 'close' ? 'resolved' : 'pending';
  await statements.run('move', [id, state, isAdmitting(action) ? 1 : 0], tx);
  await addAction(statements, decision, tx);
  // Evidence whose reference can be read in more than one way has an id of its own, and belongs to no payment.
  if (transitionIdOf(decision.signed, settings.account) === transitionId)
    await restate(statements, { ...decision.signed, account: settings.account }, tx);
  return state;
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
    throw new ConfigurationError('body', 'body must be the digest of a verified body that report() lists.');
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
