import { createClient } from '@payment-service/core/client';
import { atTheEnd } from '@payment-service/durability/measure/program.ts';
import { createSandbox } from '@payment-service/sandbox';
import { addresses } from '@payment-service/sandbox/addresses';
import { examplesOf } from '@payment-service/servers/examples';
import { everythingIn, type Places, printedBy, SECRETS, thrownBy } from './secrets.ts';

const PAGES = {
  '/': '/',
  '/transactions': '/transactions',
  '/transactions/:id': '/transactions/1001',
  '/deliveries': '/deliveries',
  '/deliveries/compare': '/deliveries/compare?of=1&of=2',
  '/deliveries/failures': '/deliveries/failures',
  '/deliveries/:id': '/deliveries/1',
  '/requests': '/requests',
  // A collection that the merchant's program started.
  '/requests/:id': '/requests/2',
  '/compose/:id': '/compose/1001',
  '/wallets': '/wallets',
  '/wallets/:currency': '/wallets/UGX',
  '/providers': '/providers',
  '/check': '/check',
  '/explain': '/explain',
  '/start': '/start',
  '/settings': '/settings',
  '/settings/reset': '/settings/reset',
  '/statement.csv': '/statement.csv',
  '/assets/:name': '/assets/live.js',
};

/** The pages, log, statement and objects of a sandbox that has the keys and one of the person's payments. */
export async function sandboxPlaces(): Promise<Places> {
  const places: Places = {};
  places['sandbox: what the process prints'] = `printed: ${await printedBy(async () => {
    const errors: unknown[] = [];
    const sandbox = createSandbox({
      callbackUrl: 'http://127.0.0.1:9/callbacks',
      retry: { preset: 'none' },
      onError: (error) => errors.push(error),
    });
    atTheEnd(() => sandbox.close());
    const order = { amount: 500, currency: 'UGX', provider_code: 'example_mobile_money' };
    const person = { account: SECRETS.phone, customer_name: SECRETS.name };
    sandbox.collect({ merchant_reference: 'ORD-1', ...order, ...person, misbehave: { duplicate: 1 } });
    await sandbox.idle();
    // The merchant's own keys, which the sandbox does not know, reach its request log.
    const [publicKey, secretKey] = [SECRETS['public key'], SECRETS['secret key']];
    const baseUrl = 'http://127.0.0.1:4010';
    const client = createClient({ baseUrl, publicKey, secretKey, fetch: sandbox.fetch, maxAttempts: 1 });
    places['sandbox: the error of a call with wrong keys'] = await thrownBy(() => client.getWalletBalances());
    const wrong = { merchant_reference: SECRETS.name, account: SECRETS.name, provider_code: SECRETS.phone };
    const refused = await thrownBy(() => sandbox.collect({ ...order, ...wrong }));
    places['sandbox: the error of a wrong request'] = refused;
    places['sandbox: the sandbox'] = everythingIn(sandbox.fetch) + everythingIn(errors);
    places['sandbox: statement'] = sandbox.statement();
    places['sandbox: deliveries()'] = everythingIn(sandbox.deliveries());
    const { publicKey: ownPublicKey, secretKey: ownSecretKey } = sandbox.account;
    const own = createClient({
      ...{ baseUrl, fetch: sandbox.fetch, publicKey: ownPublicKey, secretKey: ownSecretKey },
    });
    const body = { merchant_reference: 'ORD-2', ...order, ...person, mode: 'page' };
    await own.request({ method: 'POST', path: '/sandbox/collections', secretKey: true, body });
    const paymentPage = sandbox.collect({ ...order, ...person, merchant_reference: 'ORD-3', mode: 'page' });
    const paying = new URL(paymentPage.payment_page_url ?? '').pathname;
    const pages = examplesOf('The sandbox', addresses, { ...PAGES, '/sandbox/pay/:id': paying });
    for (const [path, address] of pages) {
      const response = await sandbox.fetch(`${baseUrl}${path}`);
      if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}.`);
      places[`sandbox: page ${address}`] = await response.text();
    }
  })}`;
  return places;
}
