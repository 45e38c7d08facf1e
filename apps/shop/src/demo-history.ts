import { randomBytes } from 'node:crypto';
import type { ClientWithSecretKey } from '@payment-service/core/client';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import type { Order } from './books/order.ts';
import type { RunningShop } from './server/start-shop.ts';

interface Demo {
  readonly shop: RunningShop;
  readonly client: ClientWithSecretKey;
  readonly signingKey: string;
}

/** What the sandbox does with the callback of each order. A phantom has no transaction there at all. */
const ORDERS: readonly (readonly [
  item: string,
  quantity: number,
  price: number,
  misbehave: object | 'phantom',
])[] = [
  ['Coffee beans', 1, 25_000, {}],
  ['Tea', 2, 12_000, {}],
  ['Cookbook', 1, 60_000, { lost: true }],
  ['Lamp', 1, 45_000, { forged_amount: 4_500_000 }],
  ['Tea', 1, 12_000, 'phantom'],
];
const WAIT_MS = 5000;

/**
 * Orders that make the console worth opening: paid ones, a lost callback, a claimed amount that differs, and a settlement without
 * money, between two recorded balances.
 */
export async function placeDemoOrders({ shop, client, signingKey }: Demo): Promise<void> {
  const { inbox } = shop.books;
  // The first payment creates the wallet, so that both balances show it.
  await place(['Sticker pack', 1, 5000, {}]);
  await settled(1);
  await inbox.recordBalances(await client.getWalletBalances());
  for (const order of ORDERS) await place(order);
  await settled(4);
  await inbox.recordBalances(await client.getWalletBalances());

  async function place([item, quantity, price, misbehave]: (typeof ORDERS)[number]): Promise<void> {
    const [amount, currency] = [quantity * price, 'UGX'];
    const order: Order = {
      reference: `DEMO-${randomBytes(3).toString('hex').toUpperCase()}`,
      createdAt: Date.now(),
      productId: '',
      ...{ item, quantity, total: { currency, amount: String(amount) }, account: '256770000001' },
      customerName: 'Grace Demo',
      providerCode: 'example_mobile_money',
      providerName: 'Example Mobile Money',
      start: { state: 'starting' },
    };
    const {
      reference: merchant_reference,
      account,
      customerName: customer_name,
      providerCode: provider_code,
    } = order;
    await shop.books.orders.add(order, randomBytes(16).toString('hex'));
    const callback_url = `${shop.origin}/payments/callbacks`;
    const money = { request_currency: currency, request_amount: amount, transaction_currency: currency };
    if (misbehave === 'phantom') {
      const payload = {
        ...money,
        merchant_reference,
        transaction_amount: amount,
        internal_reference: `GONE-${merchant_reference}`,
      };
      const data = sampleCallback({ payload });
      const headers = {
        'content-type': 'application/json',
        'hmac-signature': signCallback({ signingKey, data }),
      };
      await fetch(callback_url, { method: 'POST', headers, body: JSON.stringify(data) });
      return;
    }
    const body = {
      merchant_reference,
      amount,
      currency,
      provider_code,
      account,
      customer_name,
      callback_url,
    };
    await client.request({
      method: 'POST',
      path: '/sandbox/collections',
      secretKey: true,
      body: { ...body, mode: 'direct', misbehave },
    });
  }

  /** The callbacks are sent and applied in the background. */
  async function settled(count: number): Promise<void> {
    for (const end = Date.now() + WAIT_MS; (await inbox.stats()).states.settled < count; ) {
      if (Date.now() > end) throw new Error('The orders of the demo were not paid in time.');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
