/** What the handlers in the documents presuppose: each library on a database with the merchant's orders. */
import { PrismaPg } from '@prisma/adapter-pg';
import { eq, sql } from 'drizzle-orm';
import { drizzle as connectDrizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import connectKnex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import { DataSource, EntitySchema } from 'typeorm';
import { PrismaClient } from '../.generated/client.ts';
import { newPool } from './libraries/pool.ts';
import { newDatabase } from './shop.ts';

export interface OrderRow {
  readonly reference: string;
  readonly paid: string | null;
}

const connectionString = await newDatabase(`merchants_${process.hrtime.bigint()}`);

export const pool: ReturnType<typeof newPool> = newPool(connectionString);
await pool.query(
  'create table orders (reference text primary key, currency text not null, amount text not null, paid text)',
);

const orders = pgTable('orders', { reference: text().primaryKey(), paid: text() });
const Order = new EntitySchema<OrderRow>({
  name: 'orders',
  columns: { reference: { type: 'text', primary: true }, paid: { type: 'text', nullable: true } },
});
const source = new DataSource({ type: 'postgres', url: connectionString, entities: [Order] });

export const merchants = {
  prisma: { client: new PrismaClient({ adapter: new PrismaPg({ connectionString }) }) },
  drizzle: { db: connectDrizzle(pool), eq, orders, sql },
  knex: { db: connectKnex({ client: 'pg', connection: connectionString }) },
  typeorm: { dataSource: await source.initialize(), Order },
  kysely: {
    db: new Kysely<{ readonly orders: OrderRow }>({
      dialect: new PostgresDialect({ pool: newPool(connectionString) }),
    }),
  },
};

export async function close(): Promise<void> {
  const { prisma, knex, kysely } = merchants;
  await Promise.all([prisma.client.$disconnect(), knex.db.destroy(), source.destroy(), kysely.db.destroy()]);
  await pool.end();
}
