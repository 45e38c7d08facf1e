import { createRequire } from 'node:module';
import * as imported from '@payment-service/core';
import { web } from './web.js';

// A program whose parts import and require: one copy, or `instanceof` fails between them.
const required: typeof imported = createRequire(import.meta.url)('@payment-service/core');
if (required.AmountMismatchError !== imported.AmountMismatchError)
  throw new Error('There are two copies of core.');

const server = Bun.serve({
  port: Number(process.env['PORT']),
  hostname: '127.0.0.1',
  fetch: web(process.env),
});
process.once('SIGTERM', () => server.stop());
