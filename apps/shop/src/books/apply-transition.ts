import type { Inbox } from '@payment-service/inbox';
import type { Database, Transaction } from './database.ts';
import { isOrderReference } from './order-store.ts';

/** Only a collection is money for an order. A payout may carry the same reference: it waits in the inbox, unhandled. */
const type = 'COLLECTION';

/**
 * The handlers of the inbox. What they write is in the transaction that settles the transition, so that both happen or
 * neither, and once, whatever ends when. Every other type and status waits in the inbox.
 */
export function applyTransitions(inbox: Inbox<Transaction>, database: Database, now: () => number): void {
  // The one place where an order becomes paid. `settled` is what the shop itself expected, and a callback confirmed it;
  // the charge is what that callback claims beside it, for the owner to read.
  inbox.handle(
    async ({ tx, signed, settled, claimed, transitionId }) => {
      await database.within(tx).query(
        // A person may have reopened it: then it is on the books already.
        `insert into shop_payment (transition_id, reference, currency, amount, claimed_charge, paid_at)
         values ($1, $2, $3, $4, $5, $6) on conflict (transition_id) do nothing`,
        [
          transitionId,
          signed.merchant_reference,
          settled.currency,
          settled.amount,
          claimed.transaction_charge?.toString() ?? null,
          now(),
        ],
      );
    },
    { type },
  );
  inbox.handle(
    async ({ tx, signed }) => {
      if (!isOrderReference(signed.merchant_reference)) return;
      const values = [signed.transaction_status, signed.merchant_reference];
      await database.within(tx).query('update shop_order set reported = $1 where reference = $2', values);
    },
    { type, status: 'FAILED' },
  );
}
