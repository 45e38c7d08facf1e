import { serve } from '@hono/node-server';
import { webWithInbox } from './next-inbox.js';

const fetch = webWithInbox(process.env);
const server = serve({ fetch, port: Number(process.env['PORT']), hostname: '127.0.0.1' });
process.once('SIGTERM', () => server.close());
