import type { ClientWithSecretKey } from '@payment-service/core/client';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { newFormId } from './books/orders.ts';
import type { RunningShop } from './server/start-shop.ts';

/** What was bought, and what the sandbox does with the callback. */
const ORDERS: readonly [product: string, quantity: number, misbehave: object][] = [
  ['coffee', 1, {}],
  ['basket', 2, {}],
  ['lamp', 1, { lost: true }],
  ['basket', 1, { forged_amount: 4_500_000 }],
];
const WAIT_MS = 5000;

/**
 * Orders that make the console worth opening: paid ones, a lost callback, a claimed amount that differs, and a settlement
 * without money, between two recorded balances.
 */
export async function placeDemoOrders(
  { origin, books }: RunningShop,
  client: ClientWithSecretKey,
  signingKey: string,
): Promise<void> {
  const { inbox, orders } = books;
  const { settled: earlier } = (await inbox.stats()).states;
  const recordBalances = async () => inbox.recordBalances(await client.getWalletBalances());
  // The first payment creates the wallets, so that both balances show them.
  await place('coffee', 1, {});
  await settled(1);
  await recordBalances();
  for (const order of ORDERS) await place(...order);
  await placePhantom();
  await settled(4);
  await recordBalances();

  /** As a customer does: through the checkout and the payment page. */
  async function place(product: string, quantity: number, misbehave: object): Promise<void> {
    const put = { method: 'PUT', path: '/sandbox/settings', secretKey: true } as const;
    await client.request({ ...put, body: { misbehave } });
    const customer = { name: 'Grace Demo', account: '256770000001', provider: 'example_mobile_money' };
    const form = { product, quantity: String(quantity), form_id: newFormId(), ...customer };
    const paymentPage = await send(`${origin}/checkout`, form);
    await send(paymentPage ?? '', { choice: 'pay' });
    await client.request({ ...put, body: { misbehave: {} } });
  }

  /** A copy of the newest order, paid by a genuine signature: the service knows of no such payment. */
  async function placePhantom(): Promise<void> {
    const [newest] = orders.list();
    if (newest === undefined) return;
    const reference = `ORD-${newFormId().slice(0, 12).toUpperCase()}`;
    await orders.add({ ...newest, reference, createdAt: Date.now() }, newFormId());
    const amounts = { request_amount: 45_000, transaction_amount: 45_000, transaction_charge: 1350 };
    const payload = { merchant_reference: reference, internal_reference: `SBX-${reference}`, ...amounts };
    const data = sampleCallback({ payload });
    const headers = {
      'content-type': 'application/json',
      'hmac-signature': signCallback({ signingKey, data }),
    };
    await fetch(`${origin}/payments/callbacks`, { method: 'POST', headers, body: JSON.stringify(data) });
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
async function send(address: string, form: Record<string, string>): Promise<string | null> {
  const body = new URLSearchParams(form);
  return (await fetch(address, { method: 'POST', body, redirect: 'manual' })).headers.get('location');
}
