import { isDeepStrictEqual } from 'node:util';
import { InvalidStateError, NotFoundError, StaleError, transitionId } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
  refuseArgument,
} from '@payment-service/core/internal';
import { type ActionNote, asInput, NOTE_RULES } from '../../action-note.ts';
import { DATE, STRING, wholeNumber } from '../../option-rules.ts';
import type { TransitionReason } from '../../states.ts';
import { dateOf, numberOf } from '../../store/store.ts';
import { COMPARISON } from '../../verdict/expectation.ts';
import { keysOf, lockPayment, restate } from '../../verdict/restate.ts';
import { signedIn } from '../../verdict/stored-values.ts';
import { readPage } from '../payments/list-payments.ts';
import { readPayment } from '../payments/read-payment.ts';
import type { OperatorContext } from '../reports.ts';
import { ACT_NAMES, addAction } from './action-log.ts';
import type { ActGiven } from './effects.ts';
import { forget } from './forget.ts';
import type { Act } from './offers.ts';
import { BULK_ACTS, type BulkAct, OPERATIONS } from './operations.ts';

const GIVEN: OptionRules<ActGiven> = {
  ...NOTE_RULES,
  currency: undefined,
  amount: undefined,
  compare: COMPARISON,
  deadline: DATE,
};
const ACT: OptionRule = [
  (act) => {
    const { name, revision, merchant_reference, transaction_type } = Object(act);
    const texts = [revision, merchant_reference, transaction_type];
    return ACT_NAMES.some((each) => each === name) && texts.every((text) => typeof text === 'string');
  },
  'one of the acts that payment() returned',
];
const STALE =
  'This payment has changed since it was read: another operator or a worker acted on it, another report arrived, or another amount ' +
  'is expected. Nothing was done. Read it again, then decide.';

/** Which payments `actAll()` moves. */
export interface ActSelection {
  /** Why a person must look at them, as `payments()` says. */
  readonly reason: TransitionReason;
  /** When you looked: what has changed since then is not moved. */
  readonly until: Date;
  /** At most 1000. @default 1000 */
  readonly limit?: number | undefined;
}

const SELECTION: OptionRules<ActSelection> = {
  reason: [STRING[0], STRING[1], true],
  until: [DATE[0], 'the moment at which you looked, a Date', true],
  limit: wholeNumber(1000),
};

/** What became of a bulk act. */
export interface ActedOnAll {
  readonly done: number;
  /** How many were skipped, since they have changed. */
  readonly skipped: number;
}

/** Retries or closes, one after another, the reports that keep payments waiting for this reason. */
export async function actOnAll<Tx>(
  context: OperatorContext<Tx>,
  name: BulkAct,
  selection: ActSelection,
  given: ActionNote,
): Promise<ActedOnAll> {
  if (!BULK_ACTS.includes(name)) refuseArgument('actAll()', 'name', "'retry' or 'close'", name);
  checkOptions('actAll()', selection, SELECTION);
  asInput(NOTE_RULES, () => checkOptions('actAll()', given ?? {}, NOTE_RULES));
  const { reason, until, limit = 1000 } = selection;
  const { items } = await readPage(context, { reason, until, limit });
  const counts = { done: 0, skipped: 0 };
  for (const item of items) {
    const { reports = [], acts = [] } = (await readPayment(context, item)) ?? {};
    const held = reports.filter((report) => report.reason === reason).map((report) => report.transitionId);
    for (const act of acts.filter((each) => each.name === name && held.includes(each.report ?? '')))
      try {
        await actOnPayment(context, act, given, until);
        counts.done += 1;
      } catch (error) {
        if (!(error instanceof StaleError || error instanceof InvalidStateError)) throw error;
        counts.skipped += 1;
      }
  }
  return counts;
}

/**
 * Performs an act on a payment, unless the payment has changed since it was read.
 *
 * @throws {StaleError} If it has.
 * @throws {NotFoundError} If nothing is known of it.
 * @throws {InvalidInputError} Names what is wrong in `given`.
 */
export async function actOnPayment<Tx>(
  context: OperatorContext<Tx>,
  act: Act,
  given: ActGiven,
  until?: Date,
): Promise<void> {
  checkArgument('act()', 'act', act, ACT);
  asInput(GIVEN, () => checkOptions('act()', given ?? {}, GIVEN));
  if (act.name === 'forget') {
    await forget(context, act.merchant_reference, { by: given.by, note: given.note });
    return;
  }
  const { store, settings } = context;
  const moved = await store.transaction((tx) => perform(context, { act, given, until }, tx));
  if (moved !== undefined)
    settings.emit({ name: 'transition.moved', transitionId: act.report ?? '', state: moved });
}

/** @returns the state to which its report was moved, if it is about one. */
async function perform<Tx>(
  context: OperatorContext<Tx>,
  { act, given, until }: { readonly act: Act; readonly given: ActGiven; readonly until: Date | undefined },
  tx: Tx,
): Promise<'pending' | 'resolved' | undefined> {
  const { statements, settings } = context;
  const { account } = settings;
  const key = { merchant_reference: act.merchant_reference, transaction_type: act.transaction_type };
  // Until this transaction ends, no worker settles it, no other operator acts on it, and what is expected stays. The payment first,
  // also if it has no row yet, as workers and expect() do: in another order, two transactions could wait for each other.
  const keys = keysOf(key, account);
  const [known] = await statements.run('lock_payment', keys, tx);
  const [reported] = known === undefined ? await statements.run('read_reports', keys, tx) : [];
  if (reported !== undefined) await lockPayment(statements, { ...key, account }, tx);
  await statements.run('lock_reports', keys, tx);
  const payment = await readPayment(context, key, tx);
  if (payment === undefined) throw new NotFoundError('Nothing is known about this payment. See payments().');
  if (payment.revision !== act.revision) throw new StaleError(STALE);
  const { label, moves, perform: effect } = OPERATIONS[act.name];
  if (!payment.acts.some((each) => isDeepStrictEqual(each, act)))
    throw new InvalidStateError(`${label} is not possible for this payment now. ${payment.advice.sentence}`);
  const [row] = moves ? await statements.run('lock_named_transition', [act.report ?? '', account], tx) : [];
  if (row !== undefined && until !== undefined && dateOf(row, 'last_at') >= until)
    throw new StaleError(STALE);
  const id = row && numberOf(row, 'id');
  await effect?.({ statements, account, act, given, id: id ?? -1, tx });
  const state = moves === 'admitted' ? 'pending' : moves;
  if (id !== undefined && state !== undefined)
    await statements.run('move', [id, state, moves === 'admitted' ? 1 : 0], tx);
  await addAction(statements, { ...given, action: act.name }, id ?? keys, tx);
  // Evidence whose reference can be read in more than one way has an id of its own, and belongs to no payment.
  const isOwn = row === undefined || transitionId(signedIn(row), account) === act.report;
  if (isOwn) await restate(statements, { ...key, account }, tx);
  return state;
}
