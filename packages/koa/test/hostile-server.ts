import { listenHttp2, serveHostile } from '@payment-service/conformance/hostile-server';
import { application2, application3 } from './application.ts';

await serveHostile({
  'koa 2': [application2(), application2(listenHttp2)],
  'koa 3': [application3(), application3(listenHttp2)],
});
