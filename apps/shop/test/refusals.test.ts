import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { FRAMEWORKS, openShop } from './open-shop.ts';

describe.each(FRAMEWORKS)('what no provider can serve is refused on %s, with the reasons', (framework) => {
  test.each([
    [
      'an amount below every minimum',
      { product: 'sticker' },
      'UGX\u00a0300',
      [
        'Example Mobile Money accepts at least UGX\u00a0500 per transaction.',
        'Lake Mobile Money accepts at least UGX\u00a01,000 per transaction.',
        'Example Bank Transfer accepts at least UGX\u00a05,000 per transaction.',
        'Example Card (UGX) accepts at least UGX\u00a02,000 per transaction.',
      ],
    ],
    [
      'an amount above every maximum',
      { product: 'lamp', quantity: '999' },
      'UGX\u00a0119,880,000',
      ['Example Bank Transfer accepts at most UGX\u00a050,000,000 per transaction.'],
    ],
    [
      'an account number that no provider serves',
      { product: 'tea', account: '256770000001', provider: 'savanna_mobile_money' },
      'KES\u00a0450',
      [
        'Savanna Mobile Money supports only accounts that start with 25470, 25471, 25472.',
        'Rift Mobile Money is not available at the moment.',
      ],
    ],
  ])('%s', async (_what, form, price, reasons) => {
    const shop = await openShop({ framework });
    const { status, body } = await new Customer(shop).checkOut(form);
    expect(status).toBe(422);
    expect(body).toContain(`No provider can accept ${price} from this account.`);
    for (const reason of reasons) expect(body).toContain(`<li>${reason}</li>`);
    expect(await shop.orders.list()).toEqual([]);
  });

  test('an account number that the chosen provider does not serve, with the providers that do', async () => {
    const shop = await openShop({ framework });
    const { status, body } = await new Customer(shop).checkOut({ account: '256700000001', name: 'Ann <3' });
    expect(status).toBe(422);
    expect(body).toMatch(
      /id="account-problem">Example Mobile Money supports only accounts that start with 25677, 25678\. These can accept UGX\u00a018,000 from this account: Lake Mobile Money, Example Bank Transfer, Example Card \(UGX\)\./,
    );
    // What was typed is still there, and the way to the payment is open.
    expect(body).toContain('value="256700000001"');
    expect(body).toContain('value="Ann &lt;3"');
    expect(body).toMatch(/value="example_mobile_money" checked/);
    expect(await shop.orders.list()).toEqual([]);
    const fixed = await new Customer(shop).checkOut({
      account: '256700000001',
      provider: 'lake_mobile_money',
    });
    expect(fixed.status).toBe(303);
  });

  test.each([
    ['quantity', { quantity: '0' }, 'Enter a quantity from 1 to 999.'],
    ['quantity', { quantity: '1.5' }, 'Enter a quantity from 1 to 999.'],
    ['quantity', { quantity: '-1' }, 'Enter a quantity from 1 to 999.'],
    ['quantity', { quantity: '1e3' }, 'Enter a quantity from 1 to 999.'],
    ['name', { name: '  ' }, 'Enter your name'],
    ['name', { name: 'n'.repeat(81) }, 'at most 80 characters'],
    ['account', { account: '+' }, 'Enter the phone or account number'],
    ['account', { account: '2'.repeat(35) }, 'Enter the phone or account number'],
    ['provider', { provider: '' }, 'Choose how you want to pay.'],
    ['provider', { provider: 'a_provider_of_nobody' }, 'Choose how you want to pay.'],
  ])('a form without a usable %s: %o', async (field, form, reason) => {
    const shop = await openShop({ framework });
    const { status, body } = await new Customer(shop).checkOut(form);
    expect(status).toBe(422);
    expect(body).toMatch(new RegExp(`id="${field}-problem">[^<]*${reason}`));
    expect(body).toContain('role="alert"');
    expect(await shop.orders.list()).toEqual([]);
  });

  test('a payment that the payment service itself refuses: the daily limit', async () => {
    const shop = await openShop({ framework });
    const customer = new Customer(shop);
    const form = { product: 'lamp', quantity: '41' };
    for (let times = 0; times < 4; times += 1) expect((await customer.checkOut(form)).status).toBe(303);
    const { status, body } = await customer.checkOut(form);
    expect(status).toBe(422);
    expect(body).toMatch(
      /The payment service refused this payment<[\s\S]*<li>Example Mobile Money \w+ at most UGX\u00a020,000,000 a day/,
    );
    const [order] = await shop.orders.list();
    expect(order?.start.state).toBe('refused');
    expect((await customer.get('/owner/orders')).body).toContain('not started');
  });
});
