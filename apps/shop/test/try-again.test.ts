import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { ENGINES, openShop } from './open-shop.ts';

const TYPED = { name: 'Ann Example', account: '256770000987', quantity: '3' };

describe.each(ENGINES)('a payment that failed on $framework and $engine', ({ framework, engine }) => {
  test('is shown as failed everywhere, and nowhere in green', async () => {
    const shop = await openShop({ framework, engine });
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder();
    await shop.sendCallback(genuine(reference, { transaction_status: 'FAILED' }));
    expect(await shop.stateOf(reference)).toBe('failed');
    for (const path of [`/orders/${reference}`, '/owner/orders']) {
      const { body } = await customer.get(path);
      expect([path, body]).toEqual([path, expect.stringMatching(/The payment failed|failed</)]);
      expect([path, body]).toEqual([path, expect.not.stringMatching(/state good|<div class="note good/)]);
    }
    // A control: what the same pages mark green.
    await shop.sendCallback(genuine(reference, { internal_reference: 'INT-2' }));
    expect(await shop.stateOf(reference)).toBe('paid');
    expect((await customer.orderPage(reference)).body).toContain('<div class="note good');
    expect((await customer.get('/owner/orders')).body).toContain('state good');
  });

  test('is retried with the form as it was typed, and places a new order', async () => {
    const shop = await openShop({ framework, engine });
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder(TYPED);
    await shop.sendCallback(
      genuine(reference, {
        transaction_status: 'FAILED',
        request_amount: 54_000,
        transaction_amount: 54_000,
      }),
    );
    await shop.workedOff();
    const again = /href="([^"]+)">Try again</.exec((await customer.orderPage(reference)).body)?.[1] ?? '';
    const { body } = await customer.get(again);
    for (const value of Object.values(TYPED)) expect(body).toContain(`value="${value}"`);
    expect(body).toContain('value="example_mobile_money" checked');
    expect(body).toContain('<strong>UGX\u00a054,000</strong>');
    const formId = /name="form_id" value="([0-9a-f]{32})"/.exec(body)?.[1] ?? '';
    const second = await customer.placeOrder({ ...TYPED, form_id: formId });
    expect(second.reference).not.toBe(reference);
    expect(await shop.stateOf(reference)).toBe('failed');
  });

  test('shows nothing of the customer to another browser that opens the form of their order', async () => {
    const shop = await openShop({ framework, engine });
    const { reference } = await new Customer(shop).placeOrder(TYPED);
    const { status, body } = await new Customer(shop).get(`/orders/${reference}/again`);
    expect(status).toBe(200);
    expect(body).not.toMatch(/Ann Example|256770000987|checked/);
    expect((await new Customer(shop).get('/orders/ORD-UNKNOWN/again')).status).toBe(404);
  });

  test('keeps the provider that was chosen by hand beside a number that would select another', async () => {
    const shop = await openShop({ framework, engine });
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder({ ...TYPED, provider: 'example_card_ugx' });
    const { body } = await customer.get(`/orders/${reference}/again`);
    expect(body).toContain('value="example_card_ugx" checked');
    expect(body).toContain('name="by_prefix" value=""');
  });
});

describe.each(ENGINES)(
  'an order on $framework and $engine whose callbacks are all forged',
  ({ framework, engine }) => {
    test('does not promise that its page changes, before or after the redirect, and is paid by the genuine one', async () => {
      const shop = await openShop({ framework, engine });
      const customer = new Customer(shop);
      const { reference, paymentUrl } = await customer.placeOrder();
      expect((await customer.orderPage(reference)).body).toContain('This page updates automatically');
      await shop.sendCallback(genuine(reference, { transaction_amount: 1 }));
      await shop.workedOff();
      const held = (await customer.orderPage(reference)).body;
      expect(held).toContain('The shop must check your payment');
      expect(held).toContain(paymentUrl);
      // Its script notices the change all the same.
      expect(held).toContain('/live.js');
      await shop.orders.hint(reference, { status: 'COMPLETED', completed: true });
      const hinted = (await customer.orderPage(reference)).body;
      expect(hinted).toContain('please do not pay a second time');
      expect(hinted).not.toContain(paymentUrl);
      for (const page of [held, hinted])
        expect(page).not.toMatch(/updates automatically|this page shows it|waiting/);

      await shop.sendCallback(genuine(reference));
      expect(await shop.stateOf(reference)).toBe('paid');
      expect((await customer.orderPage(reference)).body).toContain('Paid. Thank you!');
    });

    test('still waits while only a transaction of another type is held back', async () => {
      const shop = await openShop({ framework, engine });
      const customer = new Customer(shop);
      const { reference } = await customer.placeOrder();
      await shop.sendCallback(genuine(reference, { transaction_type: 'PAYOUT', internal_reference: '' }));
      expect(await shop.transitions()).toMatchObject([{ state: 'quarantined' }]);
      expect((await customer.orderPage(reference)).body).toContain('We are waiting for your payment');
    });
  },
);
