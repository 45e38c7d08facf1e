import { setTimeout } from 'node:timers/promises';
import type { ClientWithSecretKey } from '@payment-service/core/client';
import type { Sandbox } from '@payment-service/sandbox';
import { newFormId } from './books/orders.ts';
import { SetupError } from './config.ts';
import type { RunningShop } from './server/start-shop.ts';

/** What is bought, and what the sandbox does with the callback. After the last order, the sandbox behaves normally. */
const ORDERS: readonly (readonly [product: string, quantity: string, misbehave: object])[] = [
  ['coffee', '1', {}],
  ['lamp', '1', { lost: true }],
  ['basket', '1', { forged_amount: 4_500_000 }],
  ['coffee', '2', {}],
  ['basket', '1', {}],
];
const CUSTOMER = { name: 'Grace Demo', account: '256770000001', provider: 'example_mobile_money' };
/** The sandbox numbers its transactions from here. */
const FIRST_NUMBER = 1001;

/**
 * Points the sandbox's payments at the shop, and places orders that make the console worth opening: paid ones, a lost callback, a
 * claimed amount that differs, and a settlement without money, between two recorded balances.
 */
export async function placeDemoOrders(
  { origin, books: { inbox, orders } }: RunningShop,
  client: ClientWithSecretKey,
  sandbox: Sandbox,
): Promise<void> {
  const { paid: earlier } = await inbox.counts();
  /** Records the balances once this many orders are paid: the callbacks are sent and applied in the background. */
  const limit = AbortSignal.timeout(60_000);
  const recordAfter = async (count: number): Promise<void> => {
    while ((await inbox.counts()).paid < earlier + count) {
      if (limit.aborted) throw new SetupError('The demo orders were not paid within a minute. Start again.');
      await setTimeout(50);
    }
    await inbox.recordBalances(await client.getWalletBalances());
  };
  for (const [index, [product, quantity, misbehave]] of ORDERS.entries()) {
    // The addresses are for payments that are started in the dashboard, and for its links to pages of the shop.
    const body = {
      misbehave,
      callback_url: `${origin}/payments/callbacks`,
      redirect_url: `${origin}/`,
      order_url: `${origin}/orders/{merchant_reference}`,
      inbox_url: `${origin}/owner/inbox/payment?reference={merchant_reference}`,
    };
    await client.request({ method: 'PUT', path: '/sandbox/settings', secretKey: true, body });
    const form = new URLSearchParams({ product, quantity, form_id: newFormId(), ...CUSTOMER });
    await fetch(`${origin}/checkout`, { method: 'POST', body: form, redirect: 'manual' });
    sandbox.decide(FIRST_NUMBER + index, 'completed');
    if (index === 0) await recordAfter(1);
  }
  // A copy of the newest order, paid by a genuine signature: the service knows of no such payment.
  const reference = `ORD-${newFormId().slice(0, 12).toUpperCase()}`;
  const [newest] = orders.list();
  if (newest) await orders.add({ ...newest, reference }, newFormId());
  const extra_fields = { merchant_reference: reference, internal_reference: `SBX-${reference}` };
  sandbox.compose(FIRST_NUMBER + ORDERS.length - 1, { extra_fields });
  await recordAfter(4);
}
