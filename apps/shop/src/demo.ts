/** `pnpm start` runs this: the sandbox and the shop, on this computer, with keys that the sandbox generates. */
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@payment-service/core/client';
import { sqlite } from '@payment-service/inbox';
import { createSandbox } from '@payment-service/sandbox';
import { readPort } from './config.ts';
import { placeDemoOrders } from './demo-history.ts';
import { runUntilStopped } from './server/run-until-stopped.ts';
import { portError, type RunningShop, readFramework, startShop } from './server/start-shop.ts';

// The keys of a sandbox are accepted only during development, and `pnpm start` works without a variable.
process.env['NODE_ENV'] ||= 'development';

await runUntilStopped(async () => {
  const framework = readFramework(process.argv.slice(2));
  const port = readPort(process.env, 'PORT', 3000);
  const sandboxPort = readPort(process.env, 'SANDBOX_PORT', 4010);
  const file = process.env['INBOX_FILE'] || demoFile();
  const sandbox = createSandbox();
  const { publicKey, secretKey } = sandbox.account;
  // Neither has a login, so both listen only on this computer.
  const host = '127.0.0.1';
  const { url: baseUrl } = await sandbox.listen({ port: sandboxPort, host }).catch((error: unknown) => {
    throw portError(error, sandboxPort, 'SANDBOX_PORT');
  });
  const settings = { baseUrl, host, port, file };
  const shop = await startShop(framework, { ...sandbox.account, ...settings });
  await placeDemoOrders(shop, createClient({ baseUrl, publicKey, secretKey }), sandbox);
  console.log(welcome(shop, baseUrl, file));
  return [shop, sandbox];
});

/**
 * Each demo has its own database file, since the sandbox also starts empty; the file is removed with the process. It is beside
 * the sources, where git ignores it, or on another disk of this computer if the inbox refuses that folder: memory and a network
 * would lose what was acknowledged.
 */
function demoFile(): string {
  const project = import.meta.dirname;
  const isKept = (folder: string): boolean => {
    try {
      return Boolean(sqlite(join(folder, 'shop.sqlite')));
    } catch {
      return false;
    }
  };
  const parent = [project, tmpdir(), '/var/tmp', homedir()].find(isKept) ?? project;
  const folder = mkdtempSync(join(parent, 'demo-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'shop.sqlite');
}

function welcome({ title, origin: shop }: RunningShop, sandbox: string, file: string): string {
  return `
The sample shop is open. It runs on ${title}.

  Shop      ${shop}
  Sandbox   ${sandbox}
  Inbox     ${shop}/owner/inbox, with the orders in ${file}

What to click:
  1. Open the shop and press "Buy" under the coffee beans.
  2. Choose "Example Mobile Money" and press "Continue". Enter any name and the number 256770000001, and press "Pay UGX 18,000".
  3. Press "Pay UGX 18,000" on the sandbox's payment page. The order becomes paid as soon as the signed callback arrives.

Where is the money? Six orders were placed for you: one callback was lost, one claims another amount, and one order was paid
without money.
  1. Open the inbox: one payment is held, because it claims UGX 4,500,000 for an order of UGX 45,000.
  2. In the sandbox, open the same reference, press "Compose a callback", then "Send": the genuine callback pays the order.
  3. Open ${shop}/owner/reconcile
     It records the balances. The UGX wallet gained more than was settled, so a callback is missing.
  4. Download the statement: ${sandbox}/statement.csv
  5. Choose it under "Statement" and press "Compare the statement": one line is paid_without_callback, and one
     settlement is absent_from_statement.
  6. Tick the payment, enter a reason under "Why", and press "Settle the chosen payments": the order whose callback was
     lost is paid. Open ${shop}/owner/reconcile again.
     The wallet gained UGX 43,650 less than was settled: the order that was paid without money, less the charge.

Then try one sticker (no provider accepts so little), "Decline" on the payment page, or a number that starts with 25679, which
no mobile money provider serves. Or press "Forged amount, valid signature" in the sandbox's settings and buy again: the order
stays open. The orders are at ${shop}/owner/orders. No money moves.

Stop with Ctrl-C.
`;
}
