import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { openShop, STAGES } from './open-shop.ts';

describe.each(STAGES)('a payment on $framework and $engine', ({ framework, engine }) => {
  test('leads from the catalogue through the payment page to a paid order', async () => {
    const shop = await openShop({ framework, engine });
    const customer = new Customer(shop);

    const catalogue = await customer.get('/');
    expect(catalogue.status).toBe(200);
    expect(catalogue.body).toContain('Coffee beans, 500 g');
    expect(catalogue.body).toContain('Lake Mobile Money');
    const checkoutAddress = /href="(\/checkout\?product=coffee)"/.exec(catalogue.body)?.[1] ?? '';

    const checkout = await customer.get(checkoutAddress);
    expect(checkout.body).toContain('UGX\u00a018,000 each');
    const offered = [...checkout.body.matchAll(/name="provider" value="([^"]+)"/g)].map(([, code]) => code);
    expect(offered).toEqual([
      'example_mobile_money',
      'lake_mobile_money',
      'example_bank',
      'example_card_ugx',
    ]);

    const { reference, paymentUrl } = await customer.placeOrder({
      quantity: '3',
      account: '+256 770-000 001',
    });
    expect(paymentUrl).toMatch(`${shop.sandboxOrigin}/sandbox/pay/`);
    expect((await customer.orderPage(reference)).body).toContain('We are waiting for your payment');
    const paymentPage = await customer.get(paymentUrl);
    expect(paymentPage.body).toContain('UGX\u00a054,000');
    expect(paymentPage.body).toContain('256770000001');

    const redirect = await customer.decide(paymentUrl, 'pay');
    expect(redirect).toContain('hmac_signature=');
    const back = await customer.get(redirect);
    expect(back.status).toBe(303);
    // The address that stays in the browser and its history holds no signature (threat A23).
    expect(back.location).toBe(`/orders/${reference}`);
    expect(back.headers.get('referrer-policy')).toBe('no-referrer');

    await shop.workedOff();
    const paid = await customer.get(back.location);
    expect(paid.body).toContain('Paid. Thank you!');
    expect(paid.body).toContain('UGX\u00a054,000');
    expect(paid.body).not.toContain('/live.js');

    expect((await customer.get('/owner/orders')).body).toContain(reference);
    const wallets = await customer.get('/owner/wallets');
    expect(wallets.body).toContain('UGX, collection wallet');
    // 54,000 less the sandbox's charge of 3 %.
    expect(wallets.body).toContain('UGX\u00a052,380');
  });

  test('keeps the decimals of a currency that has decimals', async () => {
    const shop = await openShop({ framework, engine });
    const customer = new Customer(shop);
    const form = { product: 'cookbook', quantity: '3', provider: 'example_card_usd', account: '1001' };
    const { reference, paymentUrl } = await customer.placeOrder(form);
    await customer.decide(paymentUrl, 'pay');
    await shop.workedOff();
    expect((await customer.orderPage(reference)).body).toMatch(/Paid. Thank you![\s\S]*USD\u00a037\.50/);
  });

  test('shows a redirect that arrives first as a hint, and the order as paid when the callback has arrived', async () => {
    const shop = await openShop({ framework, engine, sandbox: { misbehave: { late_ms: 3_600_000 } } });
    const customer = new Customer(shop);
    const { reference, paymentUrl } = await customer.placeOrder();

    const { location } = await customer.get(await customer.decide(paymentUrl, 'pay'));
    const waiting = await customer.get(location);
    expect(waiting.body).toContain('Your payment is being confirmed');
    expect(waiting.body).toContain('/live.js');
    expect(await shop.stateOf(reference)).toBe('open');

    shop.sandbox.advance(3600);
    await shop.sandbox.idle();
    expect(await shop.stateOf(reference)).toBe('paid');
    expect((await customer.get(location)).body).toContain('Paid. Thank you!');
  });

  test('shows that the customer declined the payment, and can still be paid', async () => {
    const shop = await openShop({ framework, engine });
    const customer = new Customer(shop);
    const { reference, paymentUrl } = await customer.placeOrder();
    const { location } = await customer.get(await customer.decide(paymentUrl, 'decline'));
    await shop.workedOff();
    const page = await customer.get(location);
    expect(page.body).toContain('This order is not paid');
    expect(page.body).toContain('FAILED');
    expect(page.body).toContain(`href="/orders/${reference}/again">Try again</a>`);
    expect((await shop.orders.find(reference))?.payment).toBeUndefined();
    expect((await customer.get('/owner/orders')).body).toContain('Reported FAILED');
  });

  test('pays once however often the callback arrives', async () => {
    let clock = Date.UTC(2026, 0, 1);
    const shop = await openShop({
      framework,
      engine,
      now: () => (clock += 1),
      sandbox: { misbehave: { duplicate: 4 } },
    });
    const customer = new Customer(shop);
    const { reference, paymentUrl } = await customer.placeOrder();
    await customer.decide(paymentUrl, 'pay');
    expect(await shop.stateOf(reference)).toBe('paid');
    const first = await shop.orders.find(reference);
    await shop.sandbox.idle();
    expect(shop.sandbox.deliveries().map(({ state }) => state)).toEqual(Array(5).fill('delivered'));
    expect(await shop.transitions()).toMatchObject([{ state: 'settled', deliveries: 5, bodyCount: 1 }]);
    // The clock moves with every callback: a second application would show another time.
    expect((await shop.orders.find(reference))?.payment).toEqual(first?.payment);
  });
});
