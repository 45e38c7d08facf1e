import * as adapter from '@payment-service/koa';
import Koa from 'koa';
import { merchant } from './merchant.js';

const { options, report } = merchant(adapter, process.env);
const callbacks = adapter.paymentCallbacks(options);
const app = new Koa();
app.use((ctx, next) => (ctx.path === '/callbacks' ? callbacks(ctx, next) : next()));
app.use(async (ctx) => {
  ctx.body = await report();
});
const server = app.listen(Number(process.env['PORT']), '127.0.0.1');
process.once('SIGTERM', () => server.close());
