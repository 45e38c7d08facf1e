import { listenHttp2, serveHostile } from '@payment-service/conformance/hostile-server';
import type { Context } from 'hono';
import { application } from './fetch-server.ts';
import { hono } from './hono-application.ts';

const itself = (context: Context): Context => context;

await serveHostile({ fetch: [application], hono: [hono(itself), hono(itself, listenHttp2)] });
