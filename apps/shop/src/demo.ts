/** `pnpm start` runs this: the sandbox and the shop, on this computer, with keys that the sandbox generates. */
import { ConfigurationError } from '@payment-service/core';
import { createSandbox, type Sandbox } from '@payment-service/sandbox';
import { readKeeping, readLoopbackHost, readPort, readSupport } from './config.ts';
import { demoFile } from './server/demo-file.ts';
import { runUntilStopped } from './server/run-until-stopped.ts';
import { portTaken } from './server/serve.ts';
import { FRAMEWORKS, type RunningShop, readFramework, startShop } from './server/start-shop.ts';

await runUntilStopped(async () => {
  const framework = readFramework(process.argv.slice(2));
  const host = readLoopbackHost(process.env);
  const port = readPort(process.env, 'PORT', 3000);
  const sandboxPort = readPort(process.env, 'SANDBOX_PORT', 4010);
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
    console.log(welcome(FRAMEWORKS[framework].title, shop, baseUrl));
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

async function listen(sandbox: Sandbox, port: number, host: string): Promise<{ url: string }> {
  try {
    return await sandbox.listen({ port, host });
  } catch (error) {
    const isTaken = error instanceof ConfigurationError && error.option === 'port';
    throw isTaken ? portTaken(port, 'SANDBOX_PORT', error) : error;
  }
}

function welcome(framework: string, { origin, books }: RunningShop, sandbox: string): string {
  return `
The sample shop is open. It runs on ${framework}.

  Shop      ${origin}
  Sandbox   ${sandbox}
  Inbox     ${origin}/owner/inbox, with the orders in ${books.title}

What to click:
  1. Open the shop and press "Buy" at the coffee beans.
  2. Enter any name and the number 256770000001, which selects Example Mobile Money, and press "Pay".
  3. Press "Pay" on the sandbox's payment page. The order becomes paid as soon as the signed callback is in.
  4. Open "Inbox" in the menu: it shows what needs an operator. Under "Transitions" the callback is "settled".
  5. In the sandbox, open "Settings", press "Forged amount, valid signature", and buy again: the order stays unpaid, and in
     the inbox its callback is "quarantined".
Then try one sticker (no provider accepts so little), "Decline", or a number that starts with 25679.
Orders and wallets are in the menu of the shop. No money moves.

Stop with Ctrl-C.
`;
}
