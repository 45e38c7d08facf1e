/** The shop alone, against the payment service that the environment names: `node src/main.ts --framework koa`. */
import { readConfig } from './config.ts';
import { runUntilStopped } from './server/run-until-stopped.ts';
import { readFramework, startShop } from './server/start-shop.ts';

await runUntilStopped(async () => {
  const framework = readFramework(process.argv.slice(2));
  const config = readConfig(process.env);
  const shop = await startShop(framework, config);
  const address = config.shopUrl ?? shop.origin;
  console.log(
    `The shop runs on ${shop.title}: ${address}\nOrders and inbox: ${config.file}\nStop with Ctrl-C.`,
  );
  return [shop];
});
