import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { web } from './web.js';

const handle = web(process.env);
const app = new Hono();
app.all('*', (context) => handle(context.req.raw));
const server = serve({ fetch: app.fetch, port: Number(process.env['PORT']), hostname: '127.0.0.1' });
process.once('SIGTERM', () => server.close());
