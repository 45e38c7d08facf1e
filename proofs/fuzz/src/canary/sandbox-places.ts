import { createClient } from '@payment-service/core/client';
import { atTheEnd } from '@payment-service/durability/measure/program.ts';
import { createSandbox } from '@payment-service/sandbox';
import { everythingIn, type Places, printedBy, SECRETS, thrownBy } from './secrets.ts';

const PAGES = [
  ...['/', '/deliveries', '/deliveries/1', '/transactions', '/transactions/1001', '/requests'],
  ...['/wallets', '/providers', '/settings', '/check', '/statement.csv'],
];

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
    sandbox.collect({ merchant_reference: 'ORD-1', ...order, ...person });
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
    for (const page of PAGES) {
      const response = await sandbox.fetch(`http://127.0.0.1:4010${page}`);
      if (response.status !== 200) throw new Error(`${page} was answered with ${response.status}.`);
      places[`sandbox: page ${page}`] = await response.text();
    }
  })}`;
  return places;
}
