import type { Inbox, SqliteTransaction } from '@payment-service/inbox';

/** Only a collection pays an order. A payout may have the same reference: it stays in the inbox, unhandled. */
const type = 'COLLECTION';

/**
 * The handlers of the inbox. They write in the transaction that settles the transition, so that either both happen exactly once
 * or neither does, even after a crash. Every other type and status waits in the inbox.
 *
 * @param now milliseconds since 1970.
 */
export function applyTransitions(inbox: Inbox<SqliteTransaction>, now: () => number): void {
  // The only place where an order becomes paid. `settled` is the shop's own expectation, which a callback confirmed; the charge
  // is that callback's claim, shown to the owner.
  inbox.handle(
    'paid',
    async ({ tx, payment, claimed, id }) => {
      const { currency, amount } = payment.settled;
      const charge = claimed.transaction_charge?.toString() ?? null;
      await tx.query(
        // An operator may have applied it again: then it is already on the books.
        `insert into shop_payment (transition_id, reference, currency, amount, claimed_charge, paid_at)
         values (?, ?, ?, ?, ?, ?) on conflict (transition_id) do nothing`,
        [id, payment.merchant_reference, currency, amount, charge, now()],
      );
    },
    { type },
  );
  inbox.handle(
    'failed',
    async ({ tx, signed }) => {
      const values = [signed.transaction_status, signed.merchant_reference];
      await tx.query('update shop_order set reported = ? where reference = ?', values);
    },
    { type },
  );
}
