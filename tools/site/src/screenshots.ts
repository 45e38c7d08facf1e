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

const CONSOLE = '/owner/inbox';

/** A picture and the page that it shows: the program, the address in that program's table, and the path. */
export interface Picture {
  readonly name: string;
  readonly of: 'sandbox' | 'console' | 'shop';
  readonly address: string;
  readonly path: string;
}

type Photograph = (page: Page, picture: Omit<Picture, 'path'>) => Promise<void>;

const LIST = { none: 'is a list, like the deliveries' };
const DETAILS = { none: 'is like the page of a delivery' };
const FORM = { none: 'is a form' };
const DATA = { none: 'is not a page' };

/** Why the other pages have no picture. Each page has a picture or a reason. */
export const NOT_PICTURED: Readonly<
  Record<Picture['of'], Readonly<Record<string, { readonly none: string }>>>
> = {
  sandbox: {
    ...{ '/transactions': LIST, '/requests': LIST, '/providers': LIST },
    ...{ '/deliveries/compare': DETAILS, '/requests/:id': DETAILS, '/wallets/:currency': LIST },
    ...{ '/deliveries/failures': LIST, '/explain': FORM },
    ...{ '/compose/:id': FORM, '/start': FORM, '/settings': FORM, '/settings/reset': FORM },
    ...{ '/statement.csv': DATA, '/assets/:name': DATA },
    '/sandbox/pay/:id': { none: 'stands for a page of the provider, which looks different' },
  },
  console: {
    ...{ '/payments': LIST, '/money': LIST, '/acts': FORM, '/payments.csv': DATA },
  },
  shop: {
    '/': { none: 'is an ordinary catalogue' },
    '/orders/:reference/again': { none: 'is the checkout again' },
    '/orders/:reference/receipt': { none: 'is like the page of the order' },
    '/payments/unconfirmed': { none: 'is one sentence' },
    '/owner/orders': LIST,
    '/owner/reconcile': { none: 'leads to the console' },
    '/healthz': DATA,
  },
};

/**
 * Writes the pictures into the folder.
 *
 * @returns What they show.
 */
export async function takeScreenshots(folder: string): Promise<Picture[]> {
  const pictures: Picture[] = [];
  const photograph: Photograph = async (page, { name, of, address }) => {
    const take = () => page.screenshot({ path: join(folder, `${name}.png`) });
    // Chromium sometimes refuses the first screenshot of a new browser, and takes it on the second request.
    await take().catch((error: unknown) => {
      if (!String(error).includes('Unable to capture screenshot')) throw error;
      return take();
    });
    const { pathname } = new URL(page.url());
    const path = of === 'console' ? pathname.replace(CONSOLE, '') || '/' : pathname;
    pictures.push({ name, of, address, path });
  };
  await using browser = await startBrowser();
  await dashboardPictures(browser, photograph);
  await shopPictures(browser, photograph);
  return pictures;
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
    ['overview', '/', '', DESKTOP],
    ['delivery', '/deliveries/:id', forged, TALL],
    ['transaction', '/transactions/:id', collected, { ...DESKTOP, colorScheme: 'dark' }],
    ['check', '/check', '', TALL],
    ['deliveries-phone', '/deliveries', '', PHONE],
    ['wallets', '/wallets', '', DESKTOP],
  ] as const;
  for (const [name, address, id, look] of pictures) {
    const page = await browser.newPage(look);
    await page.goto(url + address.replace(':id', String(id)));
    if (name === 'check') {
      await page.getByRole('button', { name: 'Test it' }).click();
      await page.getByText('No case failed.').or(page.getByText('cases failed.')).waitFor();
    }
    await photograph(page, { name, of: 'sandbox', address });
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

/** Makes transactions that succeed, fail, are deliberately forged, or reach a faulty server. */
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
  await page.getByRole('radio', { name: /Example Mobile Money/ }).check();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Your name').fill('Ada Example');
  await page.getByLabel('Phone number').fill('256770000001');
  await photograph(page, { name: 'shop-checkout', of: 'shop', address: '/checkout' });
  await page.getByRole('button', { name: /^Pay/ }).click();
  await page.getByRole('button', { name: /^Pay/ }).click();
  await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
  const paid = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await photograph(page, { name: 'shop-order', of: 'shop', address: '/orders/:reference' });
  await page.goto(shop + CONSOLE);
  await photograph(page, { name: 'shop-inbox', of: 'console', address: '/' });
  // The charts. The page of the last one has the form for answering a customer.
  await page.goto(`${shop}/owner/reconcile#gains`);
  await photograph(page, { name: 'inbox-reconcile', of: 'console', address: '/reconcile' });
  await page.goto(`${shop}${CONSOLE}#history`);
  await photograph(page, { name: 'inbox-charts', of: 'console', address: '/' });
  await page.getByLabel('The reference of the payment').fill(paid);
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.getByRole('heading', { name: paid }).waitFor();
  await photograph(page, { name: 'inbox-paid', of: 'console', address: '/payment' });
}

if (import.meta.main) {
  const pictures = await takeScreenshots(join(root, 'docs/pictures'));
  const names = pictures.map(({ name }) => name);
  console.log(
    `Wrote ${names.length} pictures into docs/pictures: ${names.join(', ')}. Look at each of them.`,
  );
}
