import { InvalidStateError, StaleError } from '@payment-service/core';
import type { TransitionReason } from '../states.ts';
import type { ActionNote } from './action-log.ts';
import type { Act } from './operations.ts';
import type { Payment } from './payment.ts';
import type { PaymentFilter, Payments } from './payments.ts';
import type { TransitionDetails } from './views.ts';

/** The acts that can be done to all payments that need a person for one reason. */
export const BULK_ACTS = ['retry', 'close'] as const;
export type BulkAct = (typeof BULK_ACTS)[number];

/** At most so many are acted on together. */
export const MAX_ACTED = 1000;

/** What it needs of an inbox. */
interface Acting {
  readonly payments: (filter: PaymentFilter) => Payments;
  readonly payment: (reference: string, type: string) => Promise<Payment | undefined>;
  readonly show: (report: string) => Promise<TransitionDetails | undefined>;
  readonly act: (act: Act, given: ActionNote) => Promise<Payment>;
}

/** Which payments: those that need a person for this reason, and have not changed since `until`. */
export interface ActedPayments {
  readonly reason: TransitionReason;
  readonly until: Date;
  /** At most so many. @default MAX_ACTED */
  readonly limit?: number | undefined;
}

/**
 * Does it to each of them. Skips what has changed since `until`, including further deliveries, or changes meanwhile.
 *
 * @returns how many payments.
 */
export async function actOnAll(
  inbox: Acting,
  name: BulkAct,
  { reason, until, limit = MAX_ACTED }: ActedPayments,
  given: ActionNote,
): Promise<number> {
  const isAsSeen = async (id: string): Promise<boolean> => {
    const report = await inbox.show(id);
    const times = [report?.changedAt, ...(report?.bodies ?? []).map(({ lastAt }) => lastAt)];
    return report?.reason === reason && times.every((time) => time !== undefined && time < until);
  };
  let done = 0;
  const { items } = await inbox.payments({ reason, until, limit });
  for (const { merchant_reference, transaction_type } of items) {
    let payment = await inbox.payment(merchant_reference, transaction_type);
    const tried = new Set<string>();
    let isDone = false;
    for (;;) {
      const act = payment?.acts.find(({ name: each, report = '' }) => each === name && !tried.has(report));
      if (act?.report === undefined) break;
      tried.add(act.report);
      if (!(await isAsSeen(act.report))) continue;
      try {
        payment = await inbox.act(act, given);
        isDone = true;
      } catch (error) {
        if (!(error instanceof StaleError || error instanceof InvalidStateError)) throw error;
        break;
      }
    }
    if (isDone) done += 1;
  }
  return done;
}
