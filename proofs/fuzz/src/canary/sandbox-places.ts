import { createClient } from '@payment-service/core/client';
import { atTheEnd } from '@payment-service/durability/measure/program.ts';
import { createSandbox } from '@payment-service/sandbox';
import { everythingIn, type Places, printedBy, SECRETS, thrownBy } from './secrets.ts';

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
    const order = { merchant_reference: 'ORD-1', amount: 500, currency: 'UGX' };
    const provider_code = 'example_mobile_money';
    const person = { account: SECRETS.phone, customer_name: SECRETS.name };
    const { transaction } = sandbox.collect({ ...order, provider_code, ...person });
    await sandbox.idle();
    // The merchant's own keys, which the sandbox does not know, reach its request log.
    const client = createClient({
      baseUrl: 'http://127.0.0.1:4010',
      publicKey: SECRETS['public key'],
      secretKey: SECRETS['secret key'],
      fetch: (url, init) => sandbox.fetch(url, init),
      maxAttempts: 1,
    });
    places['sandbox: the error of a call with wrong keys'] = await thrownBy(() => client.getWalletBalances());
    places['sandbox: the error of a wrong request'] = await thrownBy(() =>
      sandbox.collect({
        ...order,
        merchant_reference: SECRETS.name,
        account: SECRETS.name,
        provider_code: SECRETS.phone,
      }),
    );
    places['sandbox: the sandbox'] = everythingIn(sandbox.fetch) + everythingIn(errors);
    places['sandbox: statement'] = sandbox.statement();
    places['sandbox: deliveries()'] = everythingIn(sandbox.deliveries());
    for (const page of [
      ...[
        '/',
        '/deliveries',
        '/deliveries/1',
        '/transactions',
        `/transactions/${transaction.id}`,
        '/requests',
      ],
      ...['/wallets', '/providers', '/settings', '/check', '/statement.csv'],
    ]) {
      const response = await sandbox.fetch(`http://127.0.0.1:4010${page}`);
      if (response.status !== 200) throw new Error(`${page} was answered with ${response.status}.`);
      places[`sandbox: page ${page}`] = await response.text();
    }
  })}`;
  return places;
}
