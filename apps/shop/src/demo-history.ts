import type { ClientWithSecretKey } from '@payment-service/core/client';
import type { Sandbox } from '@payment-service/sandbox';
import { newFormId } from './books/orders.ts';
import type { RunningShop } from './server/start-shop.ts';

/** What was bought, and what the sandbox does with the callback. The last one leaves it as it is. */
const ORDERS: readonly [product: string, quantity: number, misbehave: object][] = [
  ['lamp', 1, { lost: true }],
  ['basket', 1, { forged_amount: 4_500_000 }],
  ['coffee', 2, {}],
  ['basket', 1, {}],
];
/** The sandbox numbers its transactions from here. */
const FIRST_NUMBER = 1001;
const WAIT_MS = 5000;

/**
 * Orders that make the console worth opening: paid ones, a lost callback, a claimed amount that differs, and a settlement
 * without money, between two recorded balances.
 */
export async function placeDemoOrders(
  { origin, books }: RunningShop,
  client: ClientWithSecretKey,
  sandbox: Sandbox,
): Promise<void> {
  const { inbox, orders } = books;
  const { settled: earlier } = (await inbox.stats()).states;
  const recordBalances = async () => inbox.recordBalances(await client.getWalletBalances());
  await place('coffee', 1, {});
  await settled(1);
  await recordBalances();
  for (const order of ORDERS) await place(...order);
  // A copy of the newest order, paid by a genuine signature: the service knows of no such payment.
  const reference = `ORD-${newFormId().slice(0, 12).toUpperCase()}`;
  const [newest] = orders.list();
  if (newest) await orders.add({ ...newest, reference }, newFormId());
  const extra_fields = { merchant_reference: reference, internal_reference: `SBX-${reference}` };
  sandbox.compose(FIRST_NUMBER + ORDERS.length, { extra_fields });
  await settled(4);
  await recordBalances();

  /** As a customer does: through the checkout and the payment page. */
  async function place(product: string, quantity: number, misbehave: object): Promise<void> {
    const path = '/sandbox/settings';
    await client.request({ method: 'PUT', path, secretKey: true, body: { misbehave } });
    const customer = { name: 'Grace Demo', account: '256770000001', provider: 'example_mobile_money' };
    const form = { product, quantity: String(quantity), form_id: newFormId(), ...customer };
    await send(await send(`${origin}/checkout`, form), { choice: 'pay' });
  }

  /** The callbacks are sent and applied in the background. */
  async function settled(count: number): Promise<void> {
    for (const end = Date.now() + WAIT_MS; (await inbox.stats()).states.settled < earlier + count; ) {
      if (Date.now() > end) throw new Error('The orders of the demo were not paid in time.');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Submits a form, and returns the address that it leads to. */
async function send(address: string, form: Record<string, string>): Promise<string> {
  const body = new URLSearchParams(form);
  const { headers } = await fetch(address, { method: 'POST', body, redirect: 'manual' });
  return headers.get('location') ?? '';
}
