import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { atTheEnd, makeFolder } from '@payment-service/durability/measure/program.ts';
import { createSandbox } from '@payment-service/sandbox';
import { examplesOf } from '@payment-service/servers/examples';
import { startShop } from '@payment-service/shop/start-shop';
import { type Places, SECRETS } from './secrets.ts';

const host = '127.0.0.1';

/** The pages and the log of the sample shop, for the customer, and for a browser that has only the addresses. */
export async function shopPlaces(): Promise<Places> {
  const log: string[] = [];
  const sandbox = createSandbox();
  atTheEnd(() => sandbox.close());
  const { url: baseUrl } = await sandbox.listen();
  const file = join(await makeFolder(), 'shop.db');
  const config = { ...sandbox.account, baseUrl, host, port: 0, file, allowSandboxKeys: true };
  const shop = await startShop('express', config, { log: (line) => log.push(line) });
  atTheEnd(() => shop.close());
  const { origin, books } = shop;

  /** Orders from a browser that has no cookies yet. */
  const order = async () => {
    const person = { name: SECRETS.name, account: SECRETS.phone, provider: 'example_mobile_money' };
    const body = new URLSearchParams({
      product: 'coffee',
      quantity: '1',
      form_id: randomBytes(16).toString('hex'),
      ...person,
    });
    const response = await fetch(`${origin}/checkout`, { method: 'POST', body, redirect: 'manual' });
    const cookies = response.headers.getSetCookie().map((line) => line.replace(/;.*/, ''));
    const reference = /^order=(.*)/.exec(cookies.find((one) => one.startsWith('order=')) ?? '')?.[1];
    if (reference === undefined) throw new Error(`The checkout was answered with ${response.status}.`);
    return { reference, cookie: cookies.join('; '), paymentPage: response.headers.get('location') ?? '' };
  };
  const [paid, open] = [await order(), await order()];
  const choice = new URLSearchParams({ choice: 'pay' });
  await fetch(paid.paymentPage, { method: 'POST', body: choice, redirect: 'manual' });
  await sandbox.idle();
  await books.inbox.drain();

  const pages = examplesOf('The shop', shop.addresses, {
    '/': '/',
    '/checkout': '/checkout?product=coffee',
    '/orders/:reference': [`/orders/${paid.reference}`, `/orders/${open.reference}`],
    '/orders/:reference/again': `/orders/${open.reference}/again`,
    '/orders/:reference/receipt': `/orders/${paid.reference}/receipt`,
    '/payments/unconfirmed': '/payments/unconfirmed',
    '/owner/orders': '/owner/orders',
    '/owner/reconcile': '/owner/reconcile',
    '/healthz': '/healthz',
  });
  // The shop's keys are those of its sandbox.
  const { publicKey, secretKey, signingKey } = sandbox.account;
  const keys = { 'public key': publicKey, 'secret key': secretKey, 'signing key': signingKey } as const;
  const marked = (text: string): string =>
    Object.entries(keys).reduce(
      (all, [name, key]) => all.replaceAll(key, SECRETS[name as keyof typeof keys]),
      text,
    );
  const places: Places = {};
  for (const [visitor, cookie] of [['the customer', open.cookie] as const, ['another browser', ''] as const])
    for (const [path, address] of pages) {
      const response = await fetch(origin + path, { headers: { cookie }, redirect: 'manual' });
      if (response.status > 303) throw new Error(`${path} was answered with ${response.status}.`);
      const shown = `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`;
      places[`shop, ${visitor}: ${address}`] =
        `${places[`shop, ${visitor}: ${address}`] ?? ''}${marked(shown)}`;
    }
  places['shop: log'] = `log: ${marked(log.join('\n'))}`;
  return places;
}
