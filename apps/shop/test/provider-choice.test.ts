import { createClient, type PaymentProvider } from '@payment-service/core/client';
import { defaultProviders } from '@payment-service/sandbox';
import type { Page } from '@payment-service/servers/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { catalogue } from '../src/checkout/catalogue.ts';
import { EMPTY_FORM, previewCheckout } from '../src/checkout/checkout.ts';
import { fillIn, press, useBrowser } from './support/browser.ts';
import { Customer } from './support/customer.ts';
import { type OpenShop, openShop } from './support/open-shop.ts';

const open = useBrowser();
let shop: OpenShop;
beforeAll(async () => {
  shop = await openShop({ closing: afterAll });
});

const openCheckout = (options = {}): Promise<Page> => open(`${shop.origin}/checkout?product=coffee`, options);
const said = (page: Page, sentence: string): Promise<void> =>
  page.getByRole('status').getByText(sentence, { exact: true }).waitFor();
const chosen = (page: Page): Promise<unknown> =>
  page.evaluate("document.querySelector('[name=provider]:checked')?.value ?? 'none'");
const card = (page: Page, name: string): ReturnType<Page['locator']> =>
  page.locator('label.choice').filter({ hasText: name });

describe('while the customer types', () => {
  test('the prefix selects the provider, the others say why they cannot serve it, and no input is lost', async () => {
    const page = await openCheckout();
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await page.getByLabel('Your name').fill('Ann Example');
    const account = page.getByLabel('Phone or account number');
    await account.pressSequentially('256700000001');
    await said(page, 'Lake Mobile Money is selected: it serves your number.');
    expect(await chosen(page)).toBe('lake_mobile_money');
    await card(page, 'Example Mobile Money')
      .getByText('supports only accounts that start with 25677')
      .waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('account');
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ann Example');

    // Another number selects another provider.
    await account.fill('+256 77-000 0001');
    await said(page, 'Example Mobile Money is selected: it serves your number.');
    expect(await chosen(page)).toBe('example_mobile_money');
    expect(addresses.filter((address) => /25670|25677|256%2077/.test(address))).toEqual([]);
  });

  test('a provider that the customer chose stays, even the one that the prefix had selected, and says that it cannot serve the number', async () => {
    const page = await openCheckout();
    await fillIn(page, '256770000001');
    await said(page, 'Example Mobile Money is selected: it serves your number.');
    await page.getByRole('radio', { name: /Lake Mobile Money/ }).check();
    await said(page, 'Lake Mobile Money is selected and cannot accept this payment.');
    expect(await page.evaluate('document.activeElement.value')).toBe('lake_mobile_money');
    await fillIn(page, '256700000001');
    await page.getByLabel('How many').fill('2');
    await page.getByText('UGX 36,000', { exact: true }).waitFor();
    expect(await chosen(page)).toBe('lake_mobile_money');
    // Faster than the shop responds: only the page knows that both were choices.
    await page.evaluate(
      `for (const code of ['example_bank', 'lake_mobile_money']) document.querySelector('[value=' + code + ']').click()`,
    );
    await fillIn(page, '256770000001');
    await said(page, 'Lake Mobile Money is selected and cannot accept this payment.');
    await press(page, 'Pay');
    await page.getByRole('alert').waitFor();
    expect(await chosen(page)).toBe('lake_mobile_money');
  });
});

test('without scripts, a form without a choice is returned with the provider that the prefix selects', async () => {
  const page = await openCheckout({ javaScriptEnabled: false });
  await fillIn(page, '256700000001');
  await press(page, 'Pay');
  const alert = page.getByRole('alert');
  await alert.getByText('Lake Mobile Money serves your number and is now selected.').waitFor();
  const other = card(page, 'Example Mobile Money');
  await other.getByText('supports only accounts that start with 25677').waitFor();
  expect(await chosen(page)).toBe('lake_mobile_money');
  // The prefix had selected it, so another number selects another.
  await fillIn(page, '256770000001');
  await press(page, 'Pay');
  await alert.getByText('Lake Mobile Money supports only accounts').first().waitFor();
  expect(await chosen(page)).toBe('example_mobile_money');
  await press(page, 'Pay');
  await page.waitForURL(/\/sandbox\/pay\//);
});

test('a shop that cannot answer says so, keeps what is shown, and decides when the form is sent', async () => {
  const page = await openCheckout();
  await page.route('**/checkout/providers', (route) => route.fulfill({ status: 503, body: 'away' }));
  await page.getByLabel('Phone or account number').fill('256700000001');
  const sentence =
    'Which payments the providers accept is not known at the moment. It is checked when you pay.';
  await said(page, sentence);
  expect(await page.getByRole('radio').count()).toBe(4);
  await page.unroute('**/checkout/providers');
  await page.route('**/checkout/providers', (route) => route.abort());
  await fillIn(page, '256700000001', /Lake Mobile Money/);
  await press(page, 'Pay');
  await page.waitForURL(/\/sandbox\/pay\//);
});

test('the choice of the customer stays, although the response to an earlier request arrives at the same moment', async () => {
  const page = await openCheckout();
  await page.getByLabel('Phone or account number').fill('256700000001');
  await said(page, 'Lake Mobile Money is selected: it serves your number.');
  // The response to the next request waits until arrive() is called, so that it arrives with the click.
  await page.evaluate(`
    const real = fetch;
    const held = Promise.withResolvers();
    globalThis.isHeld = held.promise;
    globalThis.fetch = (address, { signal, ...init }) => new Promise((resolve, reject) => {
      globalThis.fetch = real;
      signal.onabort = () => reject(signal.reason);
      real(address, init).then((answer) => answer.text()).then((text) => {
        globalThis.arrive = () => resolve({ ok: true, text: async () => text });
        held.resolve();
      });
    });`);
  await page.getByLabel('How many').fill('2');
  await page.evaluate('isHeld');
  await page.evaluate(`document.querySelector('[value=example_bank]').click(); arrive();`);
  await page.getByText('UGX 36,000', { exact: true }).waitFor();
  expect(await chosen(page)).toBe('example_bank');
});

test('a checkout that the browser kept in memory asks the shop again when it is shown', async () => {
  const page = await openCheckout();
  const show = (persisted: boolean): Promise<unknown> =>
    page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: ${persisted} }))`);
  await page.getByLabel('Your name').fill('Ann Example');
  const form_id = await page.locator('[name=form_id]').inputValue();
  const { reference } = await new Customer(shop).placeOrder({ form_id });
  await page.context().addCookies([{ name: 'last-coffee', value: reference, url: shop.origin }]);
  await shop.sendCallback(reference);
  await shop.transitions();
  // A control: when shown for the first time, it remains unchanged.
  await show(false);
  expect(await page.getByLabel('Your name').inputValue()).toBe('Ann Example');
  await show(true);
  await page.getByRole('heading', { name: 'This order is paid' }).waitFor();
});

test('a provider that the sandbox switches off or on changes in the shop a second later', async () => {
  const own = await openShop();
  const { publicKey, secretKey } = own.sandbox.account;
  const client = createClient({ baseUrl: own.sandboxOrigin, publicKey, secretKey });
  const lake = {
    provider_code: 'lake_mobile_money',
    transaction_currency: 'UGX',
    transaction_type: 'COLLECTION',
  };
  const isOffered = async (): Promise<boolean> =>
    !(await new Customer(own).read('/checkout?product=coffee')).includes('"lake_mobile_money" disabled');
  expect(await isOffered()).toBe(true);
  // The shop keeps the list for a second. Only a hang fails here.
  for (const is_active of [false, true]) {
    const body = { ...lake, is_active };
    await client.request({ method: 'PUT', path: '/sandbox/providers', secretKey: true, body });
    while ((await isOffered()) !== is_active) await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

describe('the selection by prefix', () => {
  const [coffee] = catalogue;
  if (coffee === undefined) throw new Error('There is nothing to sell.');
  const [mobile] = defaultProviders;
  if (mobile === undefined) throw new Error('There is no provider.');
  const provider = (provider_code: string, option_prefixes: string[], more = {}): PaymentProvider => {
    return { ...mobile.option, max_amount: 100_000, provider_code, option_prefixes, ...more };
  };
  const preview = (
    providers: PaymentProvider[],
    form: Partial<typeof EMPTY_FORM>,
    isTyping = true,
  ): [selected: string, byPrefix: string, refused: number] => {
    const found = previewCheckout({ ...EMPTY_FORM, ...form }, coffee, providers, isTyping);
    const refused = found.offers.filter(({ reasons }) => reasons.length > 0).length;
    return [found.selected, found.byPrefix, refused];
  };
  const [a, b, bank] = [provider('a', ['25677', '+256 78']), provider('b', ['25670']), provider('bank', [])];
  const disabled = provider('c', ['256'], { is_active: false });

  test.each<[string, PaymentProvider[], Partial<typeof EMPTY_FORM>, [string, string, number]]>([
    ['nothing typed', [a, b, bank], {}, ['', '', 0]],
    ['too little typed to judge it', [a, b, bank], { account: '2567' }, ['', '', 0]],
    ['a prefix, as people write it', [a, b, bank], { account: '+256-78 1' }, ['a', 'a', 1]],
    ['no provider with this prefix', [a, b, bank], { account: '25471' }, ['', '', 2]],
    ['no prefixes anywhere', [bank], { account: '1' }, ['', '', 0]],
    ['two with one prefix', [a, provider('c', ['256'])], { account: '2567700' }, ['', '', 0]],
    ['two, one switched off', [a, disabled], { account: '2567700' }, ['a', 'a', 1]],
    ['above the limit', [a, b], { account: '2567700', quantity: '6' }, ['', '', 2]],
    ['a quantity that is not a number', [a, b], { account: '2567700', quantity: 'x' }, ['a', 'a', 1]],
    ['another by hand', [a, b], { account: '2567700', provider: 'b' }, ['b', '', 1]],
    ['the same by hand', [a, b], { account: '2567000', provider: 'a' }, ['a', '', 1]],
    ['selected before', [a, b], { account: '2567000', provider: 'a', byPrefix: 'a' }, ['b', 'b', 1]],
    ['selected before, account removed', [a, b], { provider: 'a', byPrefix: 'a' }, ['', '', 0]],
    ['an unknown one by hand', [a, b], { account: '2567000', provider: 'z' }, ['b', 'b', 1]],
  ])('with %s', (_case, providers, form, expected) => {
    expect(preview(providers, form)).toEqual(expected);
  });

  test('judges a short account when the form is sent', () => {
    expect(preview([a, b], { account: '2567' }, false)).toEqual(['', '', 2]);
  });
});
