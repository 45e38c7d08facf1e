/** The shop by itself, against the payment service that the environment names: `node src/main.ts --framework koa`. */
import { readConfig } from './config.ts';
import { FRAMEWORKS, mount, readFramework } from './framework.ts';
import { runUntilStopped } from './run-until-stopped.ts';
import { serve } from './serve.ts';
import { createShop } from './shop.ts';

await runUntilStopped(async () => {
  const framework = readFramework(process.argv.slice(2));
  const config = readConfig(process.env);
  const shop = createShop(config);
  const served = await serve(config, () => mount(framework, shop));
  console.log(`The shop runs on ${FRAMEWORKS[framework].title}: ${config.shopUrl}\nStop with Ctrl-C.`);
  return [served];
});
