import * as adapter from '@payment-service/fastify';
import fastify from 'fastify';
import { merchant } from './merchant.js';

const { options, report } = merchant(adapter, process.env);
const app = fastify();
app.register(adapter.paymentCallbacks(options), { prefix: '/callbacks' });
app.get('/report', () => report());
app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' }).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
process.once('SIGTERM', () => app.close());
