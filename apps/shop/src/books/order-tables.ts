/**
 * The shop's own tables, beside those of the inbox. A payment is a row of its own, so that money that a person accepted for a
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
     start_state text not null,
     start_detail text,
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
