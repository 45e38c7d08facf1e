/** The shop by itself, against the payment service that the environment names: `node src/main.ts --framework koa`. */
import { readConfig } from './config.ts';
import { FRAMEWORKS, mount, readFramework } from './framework.ts';
import { runUntilStopped } from './run-until-stopped.ts';
import { serve } from './serve.ts';
import { createShop } from './shop.ts';

await runUntilStopped(async () => {
  const framework = readFramework(process.argv.slice(2));
  const config = readConfig(process.env);
  const served = await serve(config, (origin) =>
    mount(framework, createShop({ ...config, shopUrl: config.shopUrl ?? origin })),
  );
  const address = config.shopUrl ?? served.origin;
  console.log(`The shop runs on ${FRAMEWORKS[framework].title}: ${address}\nStop with Ctrl-C.`);
  return [served];
});
