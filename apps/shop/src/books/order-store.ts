import { randomBytes } from 'node:crypto';
import type { Inbox } from '@payment-service/inbox';
import * as z from 'zod';
import type { Database, Statements, Transaction } from './database.ts';
import type { Hint, Order, PaymentStart } from './order.ts';

/** The orders. Nothing in this file marks one as paid: see apply-transition.ts. */
export interface OrderStore {
  /**
   * Writes the order and the expectation of its payment in one transaction, so that neither exists without the other. Returns
   * the reference of the order that the form placed: that of the earlier order, without writing anything, if the form was
   * submitted before.
   */
  add(order: Order, formId: string): Promise<string>;
  /** The reference of the order that a form placed. */
  placedWith(formId: string): Promise<string | undefined>;
  /** The state of the start of the order's payment. */
  start(order: Order, start: PaymentStart): Promise<void>;
  /** Keeps the result in a redirect; returns whether there is such an order. */
  hint(reference: string, hint: Omit<Hint, 'at'>): Promise<boolean>;
  find(reference: string): Promise<Order | undefined>;
  /** The last 50, newest first. */
  list(): Promise<readonly Order[]>;
}

/** After this long without an outcome, the owner sees that it is overdue. */
const PAYMENT_DEADLINE_MS = 60 * 60 * 1000;

/** Whether it has the format of our references. Anything else is never looked up. */
export function isOrderReference(reference: string): boolean {
  return /^[\w-]{1,64}$/.test(reference);
}

export function createOrderStore(
  database: Database,
  inbox: Inbox<Transaction>,
  now: () => number,
): OrderStore {
  const expect = (order: Order, deadline: Date | undefined, tx: Transaction): Promise<void> => {
    const { currency, amount } = order.total;
    return inbox.expect({ merchant_reference: order.reference, currency, amount, deadline }, { tx });
  };

  return {
    add: (order, formId) =>
      inbox.transaction(async (tx) => {
        const statements = database.within(tx);
        const isFirst = await insert(statements, order, formId);
        if (!isFirst) return (await placedWith(statements, formId)) ?? order.reference;
        await expect(order, new Date(order.createdAt + PAYMENT_DEADLINE_MS), tx);
        return order.reference;
      }),
    placedWith: (formId) => placedWith(database.reading, formId),
    start: (order, start) =>
      inbox.transaction(async (tx) => {
        const values = [JSON.stringify(start), order.reference];
        await database.within(tx).query('update shop_order set start = $1 where reference = $2', values);
        // No payment was started for it, so nothing is overdue.
        if (start.state === 'refused') await expect(order, undefined, tx);
      }),
    async hint(reference, { status, completed }) {
      if (!isOrderReference(reference)) return false;
      // A string in PostgreSQL cannot contain NUL.
      const said = status.replaceAll('\0', '\uFFFD').slice(0, 200);
      const update = `update shop_order set hint_status = $1, hint_completed = $2, hint_at = coalesce(hint_at, $3)
        where reference = $4`;
      const values = [said, completed ? 1 : 0, now(), reference];
      const { rowCount } = await inbox.transaction((tx) => database.within(tx).query(update, values));
      return rowCount !== 0;
    },
    async find(reference) {
      if (!isOrderReference(reference)) return undefined;
      const { rows } = await database.reading.query(`${SELECT} where o.reference = $1`, [reference]);
      return rows[0] === undefined ? undefined : orderIn(rows[0]);
    },
    async list() {
      const newest = 'order by o.created_at desc, o.reference desc limit 50';
      return (await database.reading.query(`${SELECT} ${newest}`)).rows.map(orderIn);
    },
  };
}

async function placedWith(statements: Statements, formId: string): Promise<string | undefined> {
  if (!isFormId(formId)) return undefined;
  const { rows } = await statements.query('select reference from shop_order where form_id = $1', [formId]);
  return rows[0] === undefined ? undefined : text.parse(rows[0]['reference']);
}

/** Returns whether it was written: not if the form has already placed an order. */
async function insert(statements: Statements, order: Order, formId: string): Promise<boolean> {
  const { reference, createdAt, total, start } = order;
  const forPeople = JSON.stringify(details.parse(order));
  const { rowCount } = await statements.query(
    `insert into shop_order (reference, form_id, created_at, currency, amount, details, start)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (form_id) do nothing`,
    [reference, formId, createdAt, total.currency, total.amount, forPeople, JSON.stringify(start)],
  );
  return rowCount !== 0;
}

/** Each order once, however many payments its reference has: the first payment counts. */
const SELECT = `select o.*, p.transition_id, p.currency as paid_currency, p.amount as paid_amount, p.claimed_charge, p.paid_at
  from shop_order o
  left join shop_payment p on p.transition_id = (select first.transition_id from shop_payment first
    where first.reference = o.reference order by first.paid_at, first.transition_id limit 1)`;

/** pg returns `bigint` as a string. */
const integer = z.coerce.number();
const text = z.string();
/** The details of an order for people only, as JSON. */
const details = z.object({
  productId: text,
  item: text,
  quantity: z.number(),
  account: text,
  customerName: text,
  providerCode: text,
  providerName: text,
});
const paymentStart: z.ZodType<PaymentStart> = z.discriminatedUnion('state', [
  z.object({ state: z.literal('starting') }),
  z.object({ state: z.literal('started'), paymentUrl: text }),
  z.object({ state: z.enum(['refused', 'unknown']), why: text }),
]);
const orderRow = z.object({
  reference: text,
  created_at: integer,
  currency: text,
  amount: text,
  details: text.transform((json) => details.parse(JSON.parse(json))),
  start: text.transform((json) => paymentStart.parse(JSON.parse(json))),
  reported: text.nullable(),
  hint_status: text.nullable(),
  hint_completed: integer.nullable(),
  hint_at: integer.nullable(),
});
/** The columns of the payment, if there is one. */
const paymentRow = z
  .object({
    transition_id: text,
    paid_currency: text,
    paid_amount: text,
    claimed_charge: text.nullable(),
    paid_at: integer,
  })
  .transform(({ transition_id: transitionId, paid_currency: currency, paid_amount: amount, ...rest }) => ({
    transitionId,
    settled: { currency, amount },
    charge: rest.claimed_charge ?? undefined,
    at: rest.paid_at,
  }));

function orderIn(columns: Readonly<Record<string, unknown>>): Order {
  const row = orderRow.parse(columns);
  const { start, hint_status: status } = row;
  return {
    ...row.details,
    reference: row.reference,
    createdAt: row.created_at,
    total: { currency: row.currency, amount: row.amount },
    start,
    payment: columns['transition_id'] === null ? undefined : paymentRow.parse(columns),
    reported: row.reported ?? undefined,
    hint: status === null ? undefined : { status, completed: row.hint_completed === 1, at: row.hint_at ?? 0 },
  };
}

/**
 * Identifies one checkout form, and is the key of the order that it places: a form that is submitted twice places one order. It
 * cannot be guessed.
 */
export function newFormId(): string {
  return randomBytes(16).toString('hex');
}

export function isFormId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/**
 * The shop's own tables, beside those of the inbox. A payment is a row of its own, so that money that an operator accepted for a
 * reference without an order is also on the books.
 */
export const ORDER_TABLES: readonly string[] = [
  `create table if not exists shop_order (
     reference text primary key,
     form_id text not null unique,
     created_at bigint not null,
     currency text not null,
     amount text not null,
     details text not null,
     start text not null,
     reported text,
     hint_status text,
     hint_completed integer,
     hint_at bigint
   )`,
  `create table if not exists shop_payment (
     transition_id text primary key,
     reference text not null,
     currency text not null,
     amount text not null,
     claimed_charge text,
     paid_at bigint not null
   )`,
  'create index if not exists shop_order_created on shop_order (created_at, reference)',
  'create index if not exists shop_payment_reference on shop_payment (reference)',
];
