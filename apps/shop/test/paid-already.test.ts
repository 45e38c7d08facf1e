import { type Browser, startBrowser } from '@payment-service/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { FRAMEWORKS, openShop } from './open-shop.ts';

const COFFEE = '/checkout?product=coffee';
const fieldIn = (body: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1] ?? '';

describe.each(FRAMEWORKS)('a customer on %s who goes back', (framework) => {
  test('reads the state of the order at the checkout, and finds no form', async () => {
    const shop = await openShop({ framework });
    const customer = new Customer(shop);
    // A control: before the order, for another product and for another customer it is the form.
    const expectForm = async (address: string, someone = customer): Promise<void> =>
      expect((await someone.get(address)).body).toContain('<h1>Checkout</h1>');
    await expectForm(COFFEE);
    const { reference } = await customer.placeOrder();
    const [open, paid] = ['You have already placed this order', 'This order is paid'];
    const expectPage = async (address: string, title: string): Promise<string> => {
      const { body } = await customer.get(address);
      expect(body).toContain(`<h1>${title}</h1>`);
      expect(body).not.toContain('<form');
      expect(body).toContain(`href="/orders/${reference}"`);
      return body;
    };
    await expectPage(COFFEE, open);
    await expectForm(`/orders/${reference}/again`);
    await shop.sendCallback(genuine(reference));
    await shop.workedOff();
    for (const address of [COFFEE, `${COFFEE}&after=ORD-OTHER`, `/orders/${reference}/again`]) {
      await expectPage(address, paid);
    }
    await expectForm('/checkout?product=tea');
    await expectForm(COFFEE, new Customer(shop));
    expect((await new Customer(shop).get(`/orders/${reference}/again`)).body).toContain(paid);

    // The product can be bought a second time, from that page and from the catalogue.
    const another = `${COFFEE}&amp;after=${reference}`;
    expect(await expectPage(COFFEE, paid)).toContain(`href="${another}"`);
    expect((await customer.get('/')).body).toContain(`href="${another}"`);
    await expectForm(another.replace('&amp;', '&'));
    const second = await customer.placeOrder();
    for (const address of [COFFEE, another.replace('&amp;', '&')]) {
      expect((await customer.get(address)).body).toContain(`href="/orders/${second.reference}"`);
    }
  });

  test.each(['COMPLETED', 'FAILED'])(
    'pays once, whichever form of the order is submitted after it was reported as %s',
    async (transaction_status) => {
      const shop = await openShop({ framework });
      const customer = new Customer(shop);
      const first = fieldIn((await customer.get(COFFEE)).body, 'form_id');
      const { reference } = await customer.placeOrder({ form_id: first });
      const again = (await customer.get(`/orders/${reference}/again`)).body;
      await shop.sendCallback(genuine(reference, { transaction_status }));
      await shop.workedOff();
      const forms = [
        { form_id: first },
        { form_id: fieldIn(again, 'form_id'), instead: fieldIn(again, 'instead') },
      ];
      const answers = [];
      for (const form of forms)
        answers.push((await customer.checkOut(form)).location === `/orders/${reference}`);
      // A control: where the payment failed, another attempt is an order of its own.
      const isPaid = transaction_status === 'COMPLETED';
      expect(answers).toEqual([true, isPaid]);
      expect(await shop.orders.list()).toHaveLength(isPaid ? 1 : 2);
    },
  );

  test('finds the order from the page of a redirect that was refused', async () => {
    const shop = await openShop({ framework });
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder();
    const { location } = await customer.get(`/orders/${reference}/redirect?hmac_signature=t=1,s=0`);
    expect((await customer.get(location)).body).toContain(`href="/orders/${reference}"`);
    expect((await new Customer(shop).get(location)).body).not.toContain(reference);
  });
});

describe('in the browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test.each([true, false])(
    'back after paying says that it is paid (scripts: %s)',
    async (javaScriptEnabled) => {
      const shop = await openShop();
      const context = await browser.newContext({ javaScriptEnabled });
      const page = await context.newPage();
      await page.goto(shop.origin);
      await page.getByRole('link', { name: /^Buy Coffee/ }).click();
      await page.getByLabel('Your name').fill('Example Customer');
      await page.getByLabel('Phone or account number').fill('256770000001');
      await page.getByRole('radio', { name: /Example Mobile Money/ }).check();
      await page.getByRole('button', { name: 'Pay' }).click();
      await page.getByRole('button', { name: /^Pay/ }).click();
      await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
      while (!page.url().includes('/checkout')) await page.goBack();
      await page.getByRole('heading', { name: 'This order is paid' }).waitFor();
      expect(await page.getByRole('button', { name: 'Pay' }).count()).toBe(0);
      await page.getByRole('link', { name: 'See your order' }).click();
      await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
      await context.close();
    },
  );

  test('a checkout that the browser kept in memory asks the shop again when it is shown', async () => {
    const shop = await openShop();
    const page = await browser.newPage();
    const show = (persisted: boolean): Promise<unknown> =>
      page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: ${persisted} }))`);
    await page.goto(shop.origin + COFFEE);
    await page.getByLabel('Your name').fill('Ann Example');
    const customer = new Customer(shop);
    const { reference } = await customer.placeOrder({
      form_id: await page.locator('[name=form_id]').inputValue(),
    });
    await page.context().addCookies([{ name: 'last-coffee', value: reference, url: shop.origin }]);
    await shop.sendCallback(genuine(reference));
    await shop.workedOff();
    // A control: shown for the first time it stays as it is.
    await show(false);
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ann Example');
    await show(true);
    await page.getByRole('heading', { name: 'This order is paid' }).waitFor();
    await page.close();
  });
});
