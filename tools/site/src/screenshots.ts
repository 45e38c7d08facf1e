/** `pnpm screenshots`: writes the pictures of the documentation. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { finish, root, start, until } from '@payment-service/release/toolchains';
import { createSandbox, type Sandbox } from '@payment-service/sandbox';
import { type Browser, type Page, startBrowser } from '@payment-service/servers/browser';

const DESKTOP = { colorScheme: 'light', viewport: { width: 1280, height: 800 } } as const;
const TALL = { ...DESKTOP, viewport: { width: 1280, height: 1100 } };
const PHONE = { ...DESKTOP, viewport: { width: 390, height: 844 } };
const MAX_STARTING_MS = 240_000;

type Photograph = (page: Page, name: string) => Promise<void>;

/**
 * Writes the pictures into the folder.
 *
 * @returns their names.
 */
export async function takeScreenshots(folder: string): Promise<string[]> {
  const names: string[] = [];
  const photograph: Photograph = async (page, name) => {
    const take = () => page.screenshot({ path: join(folder, `${name}.png`) });
    // Chromium sometimes refuses the first screenshot of a new browser, and takes it on the second request.
    await take().catch((error: unknown) => {
      if (!String(error).includes('Unable to capture screenshot')) throw error;
      return take();
    });
    names.push(name);
  };
  await using browser = await startBrowser();
  await dashboardPictures(browser, photograph);
  await shopPictures(browser, photograph);
  return names;
}

async function dashboardPictures(browser: Browser, photograph: Photograph): Promise<void> {
  await using closing = new AsyncDisposableStack();
  const receiver = await startReceiver(closing);
  const callbackUrl = `${receiver}/payments/callbacks`;
  const sandbox = createSandbox({ callbackUrl, retry: { max_attempts: 2, backoff_ms: 50 } });
  closing.defer(() => sandbox.close());
  const { url } = await sandbox.listen();
  const { forged, collected } = await fill(sandbox, receiver);
  const pictures = [
    ['overview', '/', DESKTOP],
    ['delivery', `/deliveries/${forged}`, TALL],
    ['transaction', `/transactions/${collected}`, { ...DESKTOP, colorScheme: 'dark' }],
    ['check', '/check', TALL],
    ['deliveries-phone', '/deliveries', PHONE],
    ['wallets', '/wallets', DESKTOP],
  ] as const;
  for (const [name, path, look] of pictures) {
    const page = await browser.newPage(look);
    await page.goto(`${url}${path}`);
    if (name === 'check') {
      await page.getByRole('button', { name: 'Test it' }).click();
      await page.getByText('No case failed.').or(page.getByText('cases failed.')).waitFor();
    }
    await photograph(page, name);
    await page.close();
  }
}

/** A merchant's server with good and bad routes; 404 everywhere else. */
async function startReceiver(closing: AsyncDisposableStack): Promise<string> {
  const answers: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
    '/payments/callbacks': [200, 'application/json', '{"status":"accepted"}'],
    '/failing': [500, 'text/plain', 'Internal Server Error'],
  };
  const server = createServer((request, response) => {
    request.resume();
    const [status, type, body] = answers[request.url ?? ''] ?? [404, 'text/plain', 'Not Found'];
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  closing.defer(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Transactions that succeeded, failed, are deliberately forged, or met a faulty server. */
async function fill(sandbox: Sandbox, receiver: string): Promise<{ forged: number; collected: number }> {
  const common = { currency: 'UGX', provider_code: 'example_mobile_money', account: '256772000001' };
  const collect = (number: number, more: object = {}): number => {
    const payment = { ...common, merchant_reference: `ORD-${1000 + number}`, amount: 500 * number };
    return sandbox.collect({ ...payment, ...more }).transaction.id;
  };
  for (const number of [1, 2, 3]) collect(number);
  collect(4, { outcome: 'failed' });
  collect(5, { callback_url: `${receiver}/failing` });
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

/** Pictures of the same programs as `pnpm start`, on free ports. */
async function shopPictures(browser: Browser, photograph: Photograph): Promise<void> {
  const env = { PORT: '0', SANDBOX_PORT: '0' };
  const demo = start({ command: process.execPath, args: ['apps/shop/src/demo.ts'], cwd: root, env });
  await using closing = new AsyncDisposableStack();
  closing.defer(() => finish(demo).then(() => undefined));
  const address = (): string | undefined => /Shop +(http:\S+)[\s\S]*Ctrl-C/.exec(demo.output())?.[1];
  await until(demo, () => address() !== undefined, 'the demo does not listen', MAX_STARTING_MS);
  const shop = address() ?? '';
  const page = await browser.newPage(DESKTOP);
  await page.goto(shop);
  await page.getByRole('link', { name: 'Buy Coffee beans, 500 g' }).click();
  await page.getByLabel('Your name').fill('Ada Example');
  await page.getByLabel('Phone or account number').fill('256770000001');
  await page.getByRole('radio', { name: /Example Mobile Money/ }).check();
  await photograph(page, 'shop-checkout');
  await page.getByRole('button', { name: /^Pay/ }).click();
  await page.getByRole('button', { name: /^Pay/ }).click();
  await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
  const paid = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await photograph(page, 'shop-order');
  await page.goto(`${shop}/owner/inbox`);
  await photograph(page, 'shop-inbox');
  // The charts; the page of the last one has the form that answers a customer.
  await page.goto(`${shop}/owner/reconcile#gains`);
  await photograph(page, 'inbox-reconcile');
  await page.goto(`${shop}/owner/inbox#history`);
  await photograph(page, 'inbox-charts');
  await page.getByLabel('The reference of the payment').fill(paid);
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.getByRole('heading', { name: `Has ${paid} been paid?` }).waitFor();
  await photograph(page, 'inbox-paid');
}

if (import.meta.main) {
  const names = await takeScreenshots(join(root, 'docs/pictures'));
  console.log(
    `Wrote ${names.length} pictures into docs/pictures: ${names.join(', ')}. Look at each of them.`,
  );
}
