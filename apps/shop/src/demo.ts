/** `pnpm start` runs this: the sandbox and the shop, on this computer, with keys that the sandbox generates. */
import { ConfigurationError } from '@payment-service/core';
import { createSandbox, type Sandbox } from '@payment-service/sandbox';
import {
  type Environment,
  readKeeping,
  readLoopbackHost,
  readPort,
  readSupport,
  SetupError,
} from './config.ts';
import { demoFile } from './server/demo-file.ts';
import { runUntilStopped } from './server/run-until-stopped.ts';
import { portTaken } from './server/serve.ts';
import { FRAMEWORKS, readFramework, startShop } from './server/start-shop.ts';

await runUntilStopped(async () => {
  const framework = readFramework(process.argv.slice(2));
  const { host, port, sandboxPort } = readAddresses(process.env);
  const settings = { keeping: readKeeping(process.env, demoFile), ...readSupport(process.env) };
  const sandbox = createSandbox();
  try {
    const { url: baseUrl } = await listen(sandbox, sandboxPort, host);
    const shop = await startShop(framework, {
      ...sandbox.account,
      allowSandboxKeys: true,
      baseUrl,
      host,
      port,
      shopUrl: undefined,
      ...settings,
    });
    await tellAddresses(sandbox, baseUrl, shop.origin);
    console.log(
      welcome({
        framework: FRAMEWORKS[framework].title,
        shop: shop.origin,
        sandbox: baseUrl,
        books: shop.books.title,
      }),
    );
    return [shop, sandbox];
  } catch (error) {
    await sandbox.close();
    throw error;
  }
});

/** So that payments started in the dashboard reach the shop, and the dashboard links to its pages. */
async function tellAddresses({ account, fetch }: Sandbox, baseUrl: string, shop: string): Promise<void> {
  const answer = await fetch(`${baseUrl}/sandbox/settings`, {
    method: 'PUT',
    headers: {
      'content-type': 'application/json',
      'public-key': account.publicKey,
      'secret-key': account.secretKey,
    },
    body: JSON.stringify({
      callback_url: `${shop}/payments/callbacks`,
      redirect_url: `${shop}/`,
      order_url: `${shop}/orders/{merchant_reference}`,
      inbox_url: `${shop}/owner/inbox/transitions?reference={merchant_reference}`,
    }),
  });
  if (!answer.ok) throw new Error(`The sandbox refused the addresses of the shop: ${await answer.text()}`);
}

function readAddresses(environment: Environment): { host: string; port: number; sandboxPort: number } {
  const host = readLoopbackHost(environment);
  const port = readPort(environment, 'PORT', 3000);
  const sandboxPort = readPort(environment, 'SANDBOX_PORT', 4010);
  if (port === sandboxPort && port !== 0) {
    throw new SetupError(
      `PORT and SANDBOX_PORT are both ${port}: the shop and the sandbox need different ports.`,
    );
  }
  return { host, port, sandboxPort };
}

async function listen(sandbox: Sandbox, port: number, host: string): Promise<{ url: string }> {
  try {
    return await sandbox.listen({ port, host });
  } catch (error) {
    const isTaken = error instanceof ConfigurationError && error.option === 'port';
    throw isTaken ? portTaken(port, 'SANDBOX_PORT', error) : error;
  }
}

function welcome({
  framework,
  shop,
  sandbox,
  books,
}: Readonly<Record<'framework' | 'shop' | 'sandbox' | 'books', string>>): string {
  return `
The sample shop is open. It runs on ${framework}.

  Shop      ${shop}
  Sandbox   ${sandbox}
  Inbox     ${shop}/owner/inbox, with the orders in ${books}

What to click:
  1. Open the shop and press "Buy" at the coffee beans.
  2. Enter any name and the number 256770000001, which selects Example Mobile Money, and press "Pay".
  3. Press "Pay" on the sandbox's payment page. The order becomes paid as soon as the signed callback is in.
  4. Open "Inbox" in the menu: it shows what needs a person. Under "Transitions" the callback is "settled".
  5. In the sandbox, open "Settings", press "Forged amount, valid signature", and buy again: the order stays unpaid, and in
     the inbox its callback is "quarantined".
Then try one sticker (no provider accepts so little), "Decline", or a number that starts with 25679.
Orders and wallets are in the menu of the shop. No money moves.

Stop with Ctrl-C.
`;
}
