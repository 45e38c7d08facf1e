import { type Browser, type BrowserContext, type Page, startBrowser } from '@payment-service/browser';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/index.ts';
import { collection } from '../support/api.ts';
import { type Merchant, startMerchant } from '../support/merchant.ts';
import { visit } from '../support/visitor.ts';

let browser: Browser;
let merchant: Merchant;
let sandbox: Sandbox;
let url: string;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  merchant = await startMerchant();
  sandbox = createSandbox({ callbackUrl: merchant.url, retry: { max_attempts: 1 } });
  ({ url } = await sandbox.listen());
});
afterEach(async () => {
  await sandbox.close();
  await merchant.close();
});

test('a page shows changes, announces each once, and keeps typed input, focus, open panels and scroll position', async () => {
  for (let i = 0; i < 30; i += 1)
    sandbox.collect({ ...collection, mode: 'pending', merchant_reference: `OLD-${i}` });
  const { page, complaints } = await visit(browser);
  await page.goto(url);
  await page.locator('#keys').getByText('Keys', { exact: true }).click();
  await page.evaluate(`globalThis.said = []; new MutationObserver(() => said.push(document.getElementById('status').textContent))
    .observe(document.getElementById('status'), { childList: true, subtree: true, characterData: true });
    scrollTo(0, 120)`);
  sandbox.collect({ ...collection, merchant_reference: 'NEW' });
  await page.getByRole('link', { name: 'NEW' }).waitFor();
  await page.locator('#transactions .state', { hasText: 'Delivered' }).waitFor();
  expect(await page.locator('#keys').getAttribute('open')).not.toBeNull();
  expect(await page.evaluate('scrollY')).toBe(120);
  const said: unknown = await page.evaluate('said');
  expect(said).toEqual(['31 transactions, 0 need attention.']);

  await page.goto(`${url}/start`);
  const name = page.locator('#collection').getByLabel('Customer name');
  await name.fill('Zoë');
  for (const form of ['#collection', '#payout']) await page.locator(form).getByText('Advanced').click();
  await page.locator('#payout').getByLabel('Callback', { exact: true }).selectOption('late');
  await page.locator('#collection').getByLabel('The customer pays the charge').check();
  await name.focus();
  await page.keyboard.type(' and');
  const suggested = await page.locator('#payout-merchant_reference').getAttribute('value');
  sandbox.collect({ ...collection, merchant_reference: 'ANOTHER' });
  // Fields that were not changed follow the server: the suggested reference moves on.
  await page.locator(`#payout-merchant_reference:not([value="${suggested}"])`).waitFor({ state: 'attached' });
  await page.keyboard.type(' more');
  expect(await name.inputValue()).toBe('Zoë and more');
  expect(await page.locator('#payout').getByLabel('Callback', { exact: true }).inputValue()).toBe('late');
  expect(await page.locator('#collection').getByLabel('The customer pays the charge').isChecked()).toBe(true);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('an action changes the page without leaving it, and a refused form keeps what was typed', async () => {
  sandbox.collect({ ...collection, misbehave: { late_ms: 3_600_000 } });
  const { page } = await visit(browser);
  await page.goto(`${url}/deliveries`);
  await page.evaluate('globalThis.same = true');
  await page.getByRole('button', { name: 'Send all waiting' }).click();
  await page.locator('#deliveries .state', { hasText: 'Delivered' }).waitFor();
  expect(await page.evaluate('same')).toBe(true);

  await page.goto(`${url}/start`);
  await page.locator('#collection').getByLabel('Amount').fill('1');
  await page.locator('#collection').getByLabel('Customer name').fill('Zoë');
  await page.getByRole('button', { name: 'Collect', exact: true }).click();
  await page.locator('#collection-amount-problem').waitFor();
  expect(await page.evaluate('document.activeElement.id')).toBe('collection-amount');
  expect(await page.locator('#collection').getByLabel('Customer name').inputValue()).toBe('Zoë');
  await page.locator('#collection').getByLabel('Amount').fill('700');
  await page.locator('#collection').getByLabel('How it ends').selectOption('direct completed');
  await page.getByRole('button', { name: 'Collect', exact: true }).click();
  await page.waitForURL(/\/transactions\/\d+$/);
  await page.getByText('HTTP 200').first().waitFor();
  await page.context().close();
});

test.each([
  ['Africa/Kampala', 3, '+03:00'],
  ['America/St_Johns', -3.5, '-03:30'],
  ['UTC', 0, '+00:00'],
])(
  'times are in UTC, and local in %s once the reader has asked for it',
  async (timezoneId, hours, offset) => {
    const { transaction } = sandbox.collect(collection);
    await sandbox.idle();
    const { page, complaints } = await visit(browser, { timezoneId });
    await page.goto(`${url}/transactions/${transaction.id}`);
    const time = page.locator('#story time').first();
    const iso = (await time.getAttribute('datetime')) ?? '';
    const shown = (ahead: number, zone: string): string =>
      `${new Date(Date.parse(iso) + ahead * 3_600_000).toISOString().slice(0, 23).replace('T', ' ')} ${zone}`;
    expect(await time.textContent()).toBe(shown(0, 'UTC'));
    await page.getByRole('button', { name: 'Times: UTC' }).click();
    expect(await time.textContent()).toBe(shown(hours, `UTC${offset}`));
    await page.reload();
    expect(await time.textContent()).toBe(shown(hours, `UTC${offset}`));
    await page.getByRole('button', { name: 'Times: local' }).click();
    expect(await time.textContent()).toBe(shown(0, 'UTC'));
    expect(complaints).toEqual([]);
    await page.context().close();
  },
);

test('address and keys are copied on every page', async () => {
  const { page } = await visit(browser);
  await page.goto(`${url}/wallets`);
  await page.getByText('Keys', { exact: true }).click();
  await page.getByRole('button', { name: 'Copy address' }).click();
  await page.getByText('Copied.', { exact: true }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(url);
  await page.getByText('All as .env').click();
  await page.locator('#env').getByRole('button', { name: 'Copy' }).click();
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('\n');
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
    `SIGNING_KEY=${sandbox.account.signingKey}`,
  );
  await page.context().close();
});

test('without scripts, forms, filters and the confirmation of a reset work', async () => {
  const { page, complaints } = await visit(browser, { javaScriptEnabled: false });
  await page.goto(`${url}/start`);
  await page.locator('#collection').getByLabel('How it ends').selectOption('pending');
  await page.getByRole('button', { name: 'Collect', exact: true }).click();
  await page.getByRole('button', { name: 'Complete' }).click();
  await page.locator('.head .state', { hasText: 'Completed' }).waitFor();
  await sandbox.idle();
  await page.getByRole('link', { name: 'Deliveries' }).first().click();
  await page.getByLabel('Search by').fill('ORD-');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForURL(/q=ORD-/);
  await page.locator('#deliveries a').first().click();
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('Resent from').waitFor();
  expect(await page.locator('[data-copy]:visible').count()).toBe(0);
  await page.goto(`${url}/settings`);
  await page.getByRole('link', { name: 'Reset…' }).click();
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.getByText('None yet.').first().waitFor();
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('with three tabs open, close() ends immediately; the tabs report the lost connection and reconnect', async () => {
  const tabs = await Promise.all([visit(browser), visit(browser), visit(browser)]);
  for (const { page } of tabs) await page.goto(url);
  const { port } = new URL(url);
  const lost = tabs.map(({ page }) => page.getByText('Connection lost. Trying again…').waitFor());
  await sandbox.close();
  await Promise.all(lost);
  sandbox = createSandbox({ callbackUrl: merchant.url });
  await sandbox.listen({ port: Number(port) });
  sandbox.collect({ ...collection, merchant_reference: 'AFTER' });
  for (const { page } of tabs) {
    await page.getByRole('link', { name: 'AFTER' }).waitFor();
    await page.locator('#connection').waitFor({ state: 'hidden' });
    await page.context().close();
  }
});

test('a hidden tab sends no requests, and is up to date when it is shown again', async () => {
  const { page } = await visit(browser);
  const asked: string[] = [];
  await page.goto(url);
  page.on('request', (request) => asked.push(request.url()));
  const hide = (hidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
    );
  await page.evaluate(
    "globalThis.versions = 0; new BroadcastChannel('versions of /assets/').onmessage = () => { versions += 1 }",
  );
  await hide(true);
  sandbox.collect({ ...collection, merchant_reference: 'MEANWHILE' });
  await expect.poll(() => page.evaluate('versions')).toBeGreaterThan(1);
  expect(asked).toEqual([]);
  await hide(false);
  await page.getByRole('link', { name: 'MEANWHILE' }).waitFor();
  await page.context().close();
});

/** As many tabs of one reader as asked for: they share the connections of one browser. */
async function tabsOf(context: BrowserContext, length: number): Promise<Page[]> {
  const pages = Array.from({ length }, () => context.newPage());
  return Promise.all(pages);
}

test('seven visible tabs of one browser are live, even if the first is closed, and each sends forms', async () => {
  const { page: first, complaints } = await visit(browser);
  const others = await tabsOf(first.context(), 6);
  for (const page of [first, ...others]) await page.goto(url);
  sandbox.collect({ ...collection, merchant_reference: 'SEEN-BY-ALL' });
  for (const page of [first, ...others]) await page.getByRole('link', { name: 'SEEN-BY-ALL' }).waitFor();
  await first.close();
  sandbox.collect({ ...collection, merchant_reference: 'SEEN-BY-THE-REST' });
  for (const page of others) await page.getByRole('link', { name: 'SEEN-BY-THE-REST' }).waitFor();
  for (const page of others) {
    await page.goto(`${url}/settings`);
    await page.getByRole('button', { name: 'Save the addresses' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    expect(await page.locator('#connection').isVisible()).toBe(false);
  }
  expect(complaints).toEqual([]);
  await others[0]?.context().close();
});

test('without a stream, a page says so and still shows changes', async () => {
  const { page } = await visit(browser);
  await page.clock.install();
  await page.addInitScript('delete globalThis.SharedWorker');
  await page.goto(url);
  await page.clock.runFor(30_000);
  await page.getByText('No live updates: this page checks for changes every few seconds.').waitFor();
  sandbox.collect({ ...collection, merchant_reference: 'ASKED-FOR' });
  await page.clock.runFor(10_000);
  await page.getByRole('link', { name: 'ASKED-FOR' }).waitFor();
  await page.context().close();
});

describe('what is saved or sent is confirmed', () => {
  test.each([true, false])('once, where it was done (script: %s)', async (javaScriptEnabled) => {
    const { page, complaints } = await visit(browser, { javaScriptEnabled });
    const said = page.locator('#said');
    await page.goto(`${url}/settings`);
    await page.getByLabel('Redirect URL').fill('http://127.0.0.1:3000/return');
    await page.getByRole('button', { name: 'Save the addresses' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    await page.getByLabel('Callback URL').fill('http://elsewhere.example/');
    await page.getByRole('button', { name: 'Save the addresses' }).click();
    await page.getByText('Refused. Nothing was saved or sent.').waitFor();
    // The browser moves the focus after it has drawn the page.
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('addresses-callback_url');
    expect(await page.getByLabel('Callback URL').inputValue()).toBe('http://elsewhere.example/');
    await page.goto(`${url}/start`);
    expect(await said.textContent()).toBe('');
    await page.getByRole('button', { name: 'Collect', exact: true }).click();
    // Another page: what was done is said there.
    await page.getByText('The collection was started.').waitFor();
    await page.reload();
    expect(await said.textContent()).toBe('');
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
    await page.context().close();
  });

  test('a save while the sandbox is unavailable is reported, keeps what was typed, and goes through later', async () => {
    const { page } = await visit(browser);
    await page.goto(`${url}/settings`);
    const { port } = new URL(url);
    await page.getByLabel('Redirect URL').fill('http://127.0.0.1:3000/kept');
    await sandbox.close();
    const save = page.getByRole('button', { name: 'Save the addresses' });
    await save.click();
    await page.getByText('Not saved: the sandbox does not answer.').waitFor();
    sandbox = createSandbox({ callbackUrl: merchant.url });
    await sandbox.listen({ port: Number(port) });
    // The page shows the new state, and still what was typed.
    sandbox.advance(7200);
    await page.getByText('The clock is 2 h ahead.').waitFor();
    await page.getByText('Not saved: the sandbox does not answer.').waitFor();
    expect(await page.getByLabel('Redirect URL').inputValue()).toBe('http://127.0.0.1:3000/kept');
    await save.click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    await page.reload();
    expect(await page.getByLabel('Redirect URL').inputValue()).toBe('http://127.0.0.1:3000/kept');
    await page.context().close();
  });

  test.each([
    ['fails', 500],
    ['refuses', 403],
  ])('a save that the sandbox %s with no page is reported with its status', async (_what, status) => {
    const { page } = await visit(browser);
    await page.route('**/dashboard/**', (route) => route.fulfill({ status, json: { code: status } }));
    await page.goto(`${url}/settings`);
    await page.getByLabel('Redirect URL').fill('http://127.0.0.1:3000/kept');
    await page.getByRole('button', { name: 'Save the addresses' }).click();
    await page.getByText(`Not saved: the sandbox answered HTTP ${status}.`).waitFor();
    expect(await page.getByLabel('Redirect URL').inputValue()).toBe('http://127.0.0.1:3000/kept');
    await page.context().close();
  });
});

test('announcements are at least five seconds apart, and the last one is not lost', async () => {
  const { page } = await visit(browser);
  await page.clock.install();
  await page.goto(`${url}/transactions`);
  const status = page.locator('#status');
  for (const [index, words] of ['1 transactions', '2 transactions', '3 transactions'].entries()) {
    sandbox.collect({ ...collection, merchant_reference: `ORD-${index}`, mode: 'pending' });
    await page.getByRole('link', { name: `ORD-${index}` }).waitFor();
    await page.locator(`main[data-says^="${words}"]`).waitFor();
  }
  expect(await status.textContent()).toContain('1 transactions');
  await page.clock.runFor(5000);
  await expect.poll(() => status.textContent()).toContain('3 transactions');
  await page.context().close();
});

test('the title counts what needs attention', async () => {
  const { page } = await visit(browser);
  await page.goto(`${url}/requests`);
  expect(await page.title()).toBe('Requests · Payment service sandbox');
  merchant.answer = (response) => response.writeHead(500).end();
  sandbox.collect(collection);
  await expect.poll(() => page.title()).toBe('(1) Requests · Payment service sandbox');
  await page.context().close();
});

test('a page of another site cannot open the stream', async () => {
  const response = await sandbox.fetch(`${url}/events`, { headers: { 'sec-fetch-site': 'cross-site' } });
  expect(response.status).toBe(403);
  const own = await sandbox.fetch(`${url}/events`, { headers: { 'sec-fetch-site': 'same-origin' } });
  expect(own.headers.get('content-type')).toBe('text/event-stream');
  await own.body?.cancel();
});

test('the choice of a provider changes account, amount and bank, and keeps what is typed', async () => {
  const { page, complaints } = await visit(browser);
  await page.goto(`${url}/start`);
  const form = page.locator('#payout');
  await form.getByLabel('Customer name').fill('Zoë');
  await form.getByLabel('Provider').selectOption('example_bank UGX');
  await form.getByLabel('Bank').waitFor();
  expect(await form.getByLabel('Amount in UGX').inputValue()).toBe('5000');
  expect(await form.getByLabel('Customer name').inputValue()).toBe('Zoë');
  await form.getByLabel('Provider').selectOption('savanna_mobile_money KES');
  await form.getByText('Starts with 25470 or 25471 or 25472.').waitFor();
  expect(await form.getByLabel('Account or mobile number').inputValue()).toBe('254702000001');
  expect(await form.getByLabel('Bank').count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('a callback is composed, previewed and sent, and the endpoint is checked, with and without script', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const { transaction } = sandbox.collect(collection);
    await sandbox.idle();
    const { page, complaints } = await visit(browser, { javaScriptEnabled });
    await page.goto(`${url}/transactions/${transaction.id}`);
    await page.getByRole('link', { name: 'Compose a callback' }).click();
    await page.getByText('Event, status and other fields').click();
    await page.getByLabel('Another status').fill('REVERSED');
    await page.getByLabel('Preset').selectOption('Forged amount, valid signature');
    await page.getByRole('button', { name: 'Add the preset' }).click();
    await page.getByText('"transaction_status": "REVERSED"').first().waitFor();
    expect(await page.getByLabel('Another amount').inputValue()).toBe('1');
    // A group with a change is open.
    expect(await page.getByLabel('Another status').inputValue()).toBe('REVERSED');
    await page.getByText('Signature, key and t').click();
    await page.getByLabel('Changed fields').selectOption('keep');
    await page.getByLabel('Another amount').press('Enter');
    await page.getByText('The signature will be refused').waitFor();
    await page.locator('#compose').getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('What differs from the genuine callback').waitFor();
    expect(sandbox.deliveries().at(-1)?.misbehaves).toContain('signature kept');

    await page.getByRole('link', { name: 'Test endpoint' }).click();
    await page.getByRole('button', { name: 'Test it' }).click();
    await page.getByText('11 of 22 cases failed.').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  }
});
