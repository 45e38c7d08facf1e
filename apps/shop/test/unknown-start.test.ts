import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { execute, newKeeping } from './new-keeping.ts';
import { FRAMEWORKS, openShop, STAGES } from './open-shop.ts';
import { openServiceProxy } from './service-proxy.ts';

describe.each(STAGES)('a start whose response is lost on $framework and $engine', (stage) => {
  test('leads to the order, says that the start is unconfirmed, and shows the payment when it arrives', async () => {
    const service = await openServiceProxy(async () => 'lose');
    const shop = await openShop({ ...stage, baseUrl: service.baseUrl });
    service.leadTo(shop.sandboxOrigin);
    const customer = new Customer(shop);

    const { status, location, headers, body } = await customer.checkOut();
    const [order] = await shop.orders.list();
    const reference = order?.reference ?? '';
    expect([status, location, body]).toEqual([303, `/orders/${reference}`, '']);
    expect(headers.get('set-cookie')).toContain(`order=${reference}; Path=/orders/${reference}; HttpOnly`);
    const waiting = (await customer.get(location)).body;
    expect(waiting).toContain('We do not know yet whether your payment was started');
    expect(waiting).not.toMatch(/Nothing was paid|Try again|Go to the payment page/);
    const owner = (await customer.get('/owner/orders')).body;
    expect(owner).toContain('Start unknown: it cannot be reached');
    expect(shop.log.join('\n')).toContain(`${reference}: the payment may have been started`);

    // The payment was started. The cookie makes the redirect count in the browser that ordered.
    const [page = ''] = service.started;
    const redirect = await customer.decide(page.replace(service.baseUrl, shop.sandboxOrigin), 'pay');
    expect((await customer.get(redirect)).location).toBe(location);
    expect(await shop.stateOf(reference)).toBe('paid');
    expect((await customer.get(location)).body).toContain('Paid. Thank you!');
  });
});

describe.each(FRAMEWORKS)('a start that the shop on %s cannot store', (framework) => {
  test('still leads to the payment page, and the order becomes paid', async () => {
    const keeping = await newKeeping('sqlite');
    const shop = await openShop({ framework, keeping });
    await execute(
      keeping,
      `create trigger broken before update on shop_order begin select raise(abort, 'Full.'); end`,
    );
    const customer = new Customer(shop);
    const { reference, paymentUrl } = await customer.placeOrder();
    expect(paymentUrl).toMatch(`${shop.sandboxOrigin}/sandbox/pay/`);
    expect((await customer.orderPage(reference)).body).toContain('Your payment is being started');
    expect(shop.log.join('\n')).toContain(`${reference}: the start of the payment could not be stored`);
    await customer.decide(paymentUrl, 'pay');
    expect(await shop.stateOf(reference)).toBe('paid');
  });
});
