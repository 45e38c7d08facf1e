import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Inbox, SqliteTransaction } from '@payment-service/inbox';
import { type Hint, type Order, orderState, type PaymentStart } from './order.ts';

/** The orders. Nothing in this file marks one as paid: see apply-transition.ts. */
export interface Orders {
  /**
   * Writes the order and the expectation of its payment in one transaction, so that neither exists without the other. Returns
   * the reference of the order that the form placed: that of the earlier order, without writing anything, if the form was
   * submitted before.
   */
  add(order: Order, formId: string): Promise<string>;
  /** The state of the start of the order's payment. */
  start(order: Order, start: PaymentStart): Promise<void>;
  /** Keeps the result in a redirect, and the time of the first one; returns whether there is such an order. */
  hint(reference: string, hint: Hint): Promise<boolean>;
  find(reference: string): Order | undefined;
  /** The order that a form placed. */
  placedWith(formId: string): Order | undefined;
  /** The last 50, newest first. `search`: a part of the reference or of the customer's name or account. */
  list(filter?: { readonly search?: string; readonly state?: string }): readonly Order[];
}

const MAX_LISTED = 50;
/** After this long without an outcome, the owner sees that it is overdue. */
const PAYMENT_DEADLINE_MS = 60 * 60 * 1000;

/**
 * All writes go through the inbox, whose writers take turns; a second writer in this thread would wait for a handler in the same
 * thread.
 *
 * @param reading a connection that only reads.
 */
export function createOrders(reading: DatabaseSync, inbox: Inbox<SqliteTransaction>): Orders {
  const read = (rest: string, ...values: string[]): Order[] => {
    const statement = reading.prepare(`${SELECT} ${rest}`);
    return statement.all(...values).map(orderIn);
  };

  return {
    add: ({ start, ...order }, formId) =>
      inbox.transaction(async (tx) => {
        const { rows } = await tx.query(
          `insert into shop_order (reference, form_id, details, start) values (?, ?, ?, ?)
           on conflict (form_id) do update set form_id = form_id returning reference`,
          [order.reference, formId, JSON.stringify(order), JSON.stringify(start)],
        );
        const placed = String(rows[0]?.['reference']);
        const deadline = new Date(order.createdAt + PAYMENT_DEADLINE_MS);
        if (placed === order.reference) await inbox.expect(expectation(order, deadline), { tx });
        return placed;
      }),
    async start({ reference }, start) {
      const update = 'update shop_order set start = ? where reference = ?';
      await inbox.transaction((tx) => tx.query(update, [JSON.stringify(start), reference]));
      if (start.state !== 'refused') return;
      // No payment was started for it, so nothing is overdue.
      const cancel = (await inbox.payment(reference))?.acts.find(({ name }) => name === 'cancel');
      if (cancel) await inbox.act(cancel, { by: 'shop', note: 'The service refused to start it.' });
    },
    async hint(reference, { status, ...rest }) {
      const hint = JSON.stringify({ status: status.slice(0, 200), ...rest });
      const update = `update shop_order set hint = json_set($hint, '$.at', coalesce(hint ->> 'at', $hint ->> 'at'))
        where reference = $reference`;
      const values = { $hint: hint, $reference: reference };
      return (await inbox.transaction((tx) => tx.query(update, values))).rowCount !== 0;
    },
    find: (reference) => read('where reference = ?', reference)[0],
    placedWith: (formId) => read('where form_id = ?', formId)[0],
    list: ({ search = '', state = '' } = {}) => {
      const statement = reading.prepare(`${SELECT} where instr(lower(reference || ' ' ||
        (details ->> '$.form.name') || ' ' || (details ->> '$.form.account')), lower(?)) order by rowid desc`);
      const isMeant = (order: Order): boolean => state === '' || orderState(order) === state;
      return statement.all(search).map(orderIn).filter(isMeant).slice(0, MAX_LISTED);
    },
  };
}

/** What the inbox expects to be paid for an order. */
const expectation = ({ reference, total }: Pick<Order, 'reference' | 'total'>, deadline: Date) => {
  return { merchant_reference: reference, ...total, deadline };
};

/** Each order once, however many payments its reference has: the first payment counts. */
const SELECT = `select *, (
    select json_object('transitionId', transition_id, 'charge', claimed_charge, 'at', paid_at,
      'settled', json_object('currency', currency, 'amount', amount))
    from shop_payment where reference = shop_order.reference order by paid_at, transition_id limit 1
  ) as payment from shop_order`;

function orderIn({ details, reported, ...row }: Readonly<Record<string, unknown>>): Order {
  const [start, hint, payment] = ['start', 'hint', 'payment'].map(
    (name) => JSON.parse(String(row[name])) ?? undefined,
  );
  return { ...JSON.parse(String(details)), start, hint, payment, reported: reported ?? undefined };
}

/**
 * Identifies one checkout form, and is the key of the order that it places: a form that is submitted twice places one order. It
 * cannot be guessed.
 */
export function newFormId(): string {
  return randomBytes(16).toString('hex');
}

/**
 * The shop's own tables, beside those of the inbox. A payment is a row of its own, so that money that an operator accepted for a
 * reference without an order is also on the books.
 */
export const ORDER_TABLES: readonly string[] = [
  `create table if not exists shop_order (
     reference text primary key,
     form_id text not null unique,
     details text not null,
     start text not null,
     hint text,
     reported text
   )`,
  `create table if not exists shop_payment (
     transition_id text primary key,
     reference text not null,
     currency text not null,
     amount text not null,
     claimed_charge text,
     paid_at integer not null
   )`,
  'create index if not exists shop_payment_reference on shop_payment (reference)',
];
