/** Runs the blocks of the documents about libraries, as modules: see generate.ts. */
import type { Inbox } from '@payment-service/inbox';
import { afterAll, expect, test } from 'vitest';
import { close, merchants, pool } from './merchants.ts';
import { areSettled, expected, paid, workUntil } from './shop.ts';

afterAll(close);

async function paidAmounts<Tx>(inbox: Inbox<Tx>, reference: string): Promise<unknown[]> {
  await inbox.route.onCallback(paid(reference));
  await workUntil(inbox, areSettled);
  await inbox.close();
  const { rows } = await pool.query('select paid from orders where reference = $1', [reference]);
  return rows;
}

test.each<[library: string, module: () => Promise<{ readonly inbox: unknown }>]>([
  ['prisma', () => import('../.generated/documents/prisma.ts')],
  ['drizzle', () => import('../.generated/documents/drizzle.ts')],
  ['knex', () => import('../.generated/documents/knex.ts')],
  ['typeorm', () => import('../.generated/documents/typeorm.ts')],
  ['kysely', () => import('../.generated/documents/kysely.ts')],
])('the handler for %s in docs/guide/orms.md pays the order', async (library, load) => {
  const inbox = (await load()).inbox as Inbox<unknown>;
  const reference = `ORD-${library}`;
  await inbox.ready();
  await pool.query("insert into orders values ($1, 'UGX', '500')", [reference]);
  await inbox.expect(expected(reference));
  expect(await paidAmounts(inbox, reference)).toEqual([{ paid: '500' }]);
});

test('the shop of docs/guide/orms.md keeps an order with its expectation, or neither, and its handler pays the order', async () => {
  const { openShop } = await import('../.generated/documents/guide.ts');
  const { inbox, placeOrder } = await openShop(merchants.knex.db);
  const order = { reference: 'ORD-guide', currency: 'UGX', amount: '500' };
  await placeOrder(order);
  await expect(placeOrder({ ...order, amount: '700' })).rejects.toThrow('duplicate key');
  await expect(placeOrder({ ...order, reference: 'ORD-none', amount: '-1' })).rejects.toThrow('amount');
  expect(await paidAmounts(inbox, 'ORD-guide')).toEqual([{ paid: '500' }]);
  const { rowCount } = await pool.query("select from orders where reference = 'ORD-none'");
  expect(rowCount).toBe(0);
});
