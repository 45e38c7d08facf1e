import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createSandbox, type Sandbox } from '@payment-service/sandbox';
import { type Browser, type Page, startBrowser } from '@payment-service/servers/browser';
import { startDemo } from './demo.ts';
import { startReceiver } from './receiver.ts';

interface Look {
  readonly scheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
}

const DESKTOP: Look = { scheme: 'light', width: 1280, height: 800 };
const TALL: Look = { ...DESKTOP, height: 1100 };
const DARK: Look = { ...DESKTOP, scheme: 'dark' };
const PHONE: Look = { scheme: 'light', width: 390, height: 844 };

/**
 * Writes the pictures into the folder.
 *
 * @returns their names.
 */
export async function takeScreenshots(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const browser = await startBrowser();
  try {
    return [...(await dashboardPictures(browser, folder)), ...(await shopPictures(browser, folder))];
  } finally {
    await browser.close();
  }
}

async function dashboardPictures(browser: Browser, folder: string): Promise<string[]> {
  const receiver = await startReceiver();
  const sandbox = createSandbox({
    callbackUrl: `${receiver.url}/payments/callbacks`,
    retry: { max_attempts: 2, backoff_ms: 50 },
  });
  try {
    const { url } = await sandbox.listen();
    const { forged, collected } = await fill(sandbox, receiver.url);
    const pictures: readonly [name: string, path: string, look: Look][] = [
      ['overview', '/', DESKTOP],
      ['delivery', `/deliveries/${forged}`, TALL],
      ['transaction', `/transactions/${collected}`, DARK],
      ['check', '/check', TALL],
      ['deliveries-phone', '/deliveries', PHONE],
      ['wallets', '/wallets', DESKTOP],
    ];
    for (const [name, path, look] of pictures) {
      await onPage(browser, look, async (page) => {
        await page.goto(`${url}${path}`);
        if (name === 'check') await checkEndpoint(page);
        await photograph(page, folder, name);
      });
    }
    return pictures.map(([name]) => name);
  } finally {
    await sandbox.close();
    receiver.close();
  }
}

async function checkEndpoint(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Test it' }).click();
  await page.getByText('No case failed.').or(page.getByText('cases failed.')).waitFor();
}

/** Transactions that succeeded, failed, are deliberately forged, or met a faulty server. */
async function fill(sandbox: Sandbox, receiver: string): Promise<{ forged: number; collected: number }> {
  const common = { currency: 'UGX', provider_code: 'example_mobile_money', account: '256772000001' };
  const collect = (number: number, more: object = {}): number =>
    sandbox.collect({
      ...common,
      merchant_reference: `ORD-${1000 + number}`,
      amount: 500 * number,
      ...more,
    }).transaction.id;
  for (const number of [1, 2, 3]) collect(number);
  collect(4, { outcome: 'failed' });
  collect(5, { callback_url: `${receiver}/failing` });
  collect(6, { callback_url: `${receiver}/page` });
  collect(7, { callback_url: `${receiver}/payment/callback` });
  collect(8, { mode: 'pending' });
  collect(9, { misbehave: { bad_signature: true } });
  const forgedTransaction = collect(10, { misbehave: { forged_amount: 5_000_000, duplicate: 1 } });
  const collected = collect(11, { misbehave: { duplicate: 1 } });
  await sandbox.idle();
  const forged = sandbox.deliveries().find(({ transaction_id }) => transaction_id === forgedTransaction);
  if (forged === undefined) throw new Error('There is no delivery of the forged callback.');
  return { forged: forged.id, collected };
}

/** The pages of the inbox with charts. The last one has the form that answers a customer. */
const INBOX = { 'inbox-reconcile': '/owner/reconcile#gains', 'inbox-charts': '/owner/inbox#history' };

async function shopPictures(browser: Browser, folder: string): Promise<string[]> {
  const demo = await startDemo();
  try {
    await onPage(browser, DESKTOP, async (page) => {
      await page.goto(demo.shop);
      await page.getByRole('link', { name: 'Buy Coffee beans, 500 g' }).click();
      await page.getByLabel('Your name').fill('Ada Example');
      await page.getByLabel('Phone or account number').fill('256770000001');
      await page.getByRole('radio', { name: /Example Mobile Money/, checked: true }).waitFor();
      await photograph(page, folder, 'shop-checkout');
      await page.getByRole('button', { name: /^Pay/ }).click();
      await page.getByRole('button', { name: /^Pay/ }).click();
      await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
      const paid = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      await photograph(page, folder, 'shop-order');
      await page.goto(`${demo.shop}/owner/inbox`);
      await photograph(page, folder, 'shop-inbox');
      for (const [name, path] of Object.entries(INBOX)) {
        await page.goto(`${demo.shop}${path}`);
        await photograph(page, folder, name);
      }
      await page.getByLabel('The reference of the payment').fill(paid);
      await page.getByRole('button', { name: 'Answer' }).click();
      await page.getByRole('heading', { name: `Has ${paid} been paid?` }).waitFor();
      await photograph(page, folder, 'inbox-paid');
    });
  } finally {
    await demo.close();
  }
  return ['shop-checkout', 'shop-order', 'shop-inbox', ...Object.keys(INBOX), 'inbox-paid'];
}

async function onPage(
  browser: Browser,
  { scheme, width, height }: Look,
  act: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height } });
  try {
    await act(await context.newPage());
  } finally {
    await context.close();
  }
}

async function photograph(page: Page, folder: string, name: string): Promise<void> {
  const take = () => page.screenshot({ path: join(folder, `${name}.png`) });
  // Chromium sometimes refuses the first screenshot of a new browser, and takes it on the second request.
  await take().catch((error: unknown) => {
    if (!String(error).includes('Unable to capture screenshot')) throw error;
    return take();
  });
}
