import type { HandledTransition } from '@payment-service/inbox';
import type { Database, Transaction } from './database/database.ts';
import { canPayOrder } from './order.ts';
import { isOrderReference } from './order-store.ts';

/** Beside completed collections, the customer is told of these. Every other status waits in the inbox, unhandled. */
export const HANDLED_STATUSES = ['COMPLETED', 'FAILED'] as const;

/**
 * The handler of the inbox, and the one place where an order becomes paid: in the transaction that settles the
 * transition, so that both happen or neither, and once, whatever ends when.
 *
 * It never sees an amount that came from outside. `settled` is what the shop itself expected, and it is there only when
 * a callback confirmed it.
 */
export function applyTransition(
  database: Database,
  now: () => number,
): (transition: HandledTransition<Transaction>) => Promise<void> {
  return async ({ tx, signed, settled, transitionId }) => {
    // A person may have accepted another type in the inbox: it is no payment of an order even then.
    if (!canPayOrder(signed)) return;
    const statements = database.within(tx);
    if (settled !== undefined) {
      await statements.query(
        // A person may have reopened it: then it is on the books already.
        `insert into shop_payment (transition_id, reference, currency, amount, paid_at) values ($1, $2, $3, $4, $5)
         on conflict (transition_id) do nothing`,
        [transitionId, signed.merchant_reference, settled.currency, settled.amount, now()],
      );
      return;
    }
    if (!isOrderReference(signed.merchant_reference)) return;
    await statements.query('update shop_order set reported = $1 where reference = $2', [
      signed.transaction_status,
      signed.merchant_reference,
    ]);
  };
}
