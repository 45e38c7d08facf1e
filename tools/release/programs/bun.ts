import { web } from './web.js';

const server = Bun.serve({
  port: Number(process.env['PORT']),
  hostname: '127.0.0.1',
  fetch: web(process.env),
});
process.once('SIGTERM', () => server.stop());
